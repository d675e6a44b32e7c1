"""What nvidia-smi says beside what the telemetry says: every difference is found, and no other."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

import smi
from gputrain_runner.timeline import Gpu, GpuDetail

LISTED = """\
<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
  <driver_version>570.86.15</driver_version>
  <attached_gpus>1</attached_gpus>
  <gpu id="00000000:1B:00.0">
    <product_name>NVIDIA H100 80GB HBM3</product_name>
    <persistence_mode>Enabled</persistence_mode>
    <mig_mode><current_mig>Disabled</current_mig><pending_mig>Disabled</pending_mig></mig_mode>
    <uuid>GPU-513536b6-7d19-9063-b049-1e69664bb298</uuid>
    <pci>
      <pci_bus_id>00000000:1B:00.0</pci_bus_id>
      <pci_gpu_link_info>
        <pcie_gen>
          <max_link_gen>5</max_link_gen>
          <current_link_gen>4</current_link_gen>
          <max_device_link_gen>5</max_device_link_gen>
        </pcie_gen>
        <link_widths>
          <max_link_width>16x</max_link_width>
          <current_link_width>8x</current_link_width>
        </link_widths>
      </pci_gpu_link_info>
      <replay_counter>0</replay_counter>
    </pci>
    <fan_speed>N/A</fan_speed>
    <performance_state>P0</performance_state>
    <fb_memory_usage>
      <total>81559 MiB</total>
      <reserved>551 MiB</reserved>
      <used>1000 MiB</used>
      <free>80008 MiB</free>
    </fb_memory_usage>
    <compute_mode>Exclusive_Process</compute_mode>
    <ecc_mode><current_ecc>Enabled</current_ecc><pending_ecc>Enabled</pending_ecc></ecc_mode>
    <remapped_rows>
      <remapped_row_corr>0</remapped_row_corr>
      <remapped_row_unc>1</remapped_row_unc>
      <remapped_row_pending>No</remapped_row_pending>
      <remapped_row_failure>No</remapped_row_failure>
    </remapped_rows>
    <temperature><gpu_temp>41 C</gpu_temp><memory_temp>52 C</memory_temp></temperature>
    <gpu_power_readings>
      <power_state>Requested functionality has been deprecated</power_state>
      <instant_power_draw>112.31 W</instant_power_draw>
      <current_power_limit>700.00 W</current_power_limit>
    </gpu_power_readings>
    <clocks><sm_clock>1980 MHz</sm_clock><mem_clock>2619 MHz</mem_clock></clocks>
    <max_clocks><sm_clock>1980 MHz</sm_clock><mem_clock>2619 MHz</mem_clock></max_clocks>
  </gpu>
</nvidia_smi_log>
"""
MIB = 2**20


def same_gpu(**changed: Any) -> Gpu:
    """What the telemetry would say of the GPU above."""
    gpu = Gpu(
        index=0,
        uuid="GPU-513536b6-7d19-9063-b049-1e69664bb298",
        name="NVIDIA H100 80GB HBM3",
        memory_used_bytes=1010 * MIB,
        memory_total_bytes=81559 * MIB,
        memory_free_bytes=79998 * MIB,
        memory_reserved_bytes=551 * MIB,
        pcie_generation=4,
        pcie_generation_max=5,
        pcie_width=8,
        pcie_width_max=16,
        sm_clock_mhz=1950,
        sm_clock_max_mhz=1980,
        memory_clock_mhz=2619,
        power_w=120.0,
        power_limit_w=700.0,
        temperature_c=42,
        memory_temperature_c=52,
        performance_state=0,
        detail=GpuDetail(
            pci_bus_id="00000000:1B:00.0",
            pcie_generation_gpu_max=5,
            memory_clock_max_mhz=2619,
            persistence=True,
            compute_mode="exclusive_process",
            mig_mode=False,
            ecc_mode=True,
            remapped_rows_corrected=0,
            remapped_rows_uncorrected=1,
            remapping_pending=False,
            remapping_failed=False,
            pcie_replays=0,
        ),
    )
    return structs.replace(gpu, **changed)


def test_the_same_gpu_told_twice_has_no_mismatch() -> None:
    listing = smi.parsed(LISTED)

    assert listing.driver == "570.86.15"
    (told,) = listing.gpus.values()
    assert told["memory_used_bytes"] == 1000 * MIB
    assert told["power_limit_w"] == 700.0
    assert told["fan"] is None
    assert smi.mismatches(same_gpu(), told) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "NVIDIA H200"},
        {"memory_total_bytes": 80 * 10**9},
        {"memory_used_bytes": 3000 * MIB},
        {"pcie_generation": 5},
        {"pcie_width": 16},
        {"pcie_width_max": None},
        {"sm_clock_mhz": 345},
        {"temperature_c": 60},
        {"power_w": 700.0},
        {"power_limit_w": 350.0},
        {"performance_state": 8},
        {"detail": None},
    ],
)
def test_every_value_that_differs_is_found(changed: dict[str, Any]) -> None:
    (told,) = smi.parsed(LISTED).gpus.values()

    found = smi.mismatches(same_gpu(**changed), told)

    assert found
    if changed["detail" if "detail" in changed else next(iter(changed))] is not None:
        assert [line.partition(":")[0] for line in found] == list(changed)


def test_a_switch_is_no_number() -> None:
    (told,) = smi.parsed(LISTED).gpus.values()
    detail = same_gpu().detail
    assert detail is not None

    found = smi.mismatches(same_gpu(detail=structs.replace(detail, ecc_mode=False, persistence=None)), told)

    assert [line.partition(":")[0] for line in found] == ["persistence", "ecc_mode"]


def test_an_older_driver_has_its_power_elsewhere() -> None:
    older = (
        LISTED.replace("gpu_power_readings", "power_readings")
        .replace("current_power_limit", "enforced_power_limit")
        .replace("instant_power_draw", "power_draw")
    )

    (told,) = smi.parsed(older).gpus.values()

    assert (told["power_limit_w"], told["power_w"]) == (700.0, 112.31)
