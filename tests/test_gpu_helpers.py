"""What the tests for a GPU stand on, tried where there is none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import gpu_load
import gpu_plan
import smi
from diagnosed import Diagnosed, missed, named, newest_burst, of_burst, remedy_to, span_share, standing
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.settings import Settings, initial
from gputrain_runner.timeline import (
    Change,
    Effect,
    Entry,
    Finding,
    Gpu,
    GpuDetail,
    KindOfWork,
    Phase,
    Profile,
    Rate,
    Remedy,
    Sample,
    StepMs,
    Verdict,
)
from training_presets import small

FOLDER = Path(__file__).parent / "gpu"


# ------------------------------------------------------------------- the order of the tests


def names_in(file: Path) -> list[str]:
    return [
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_every_place_names_a_test_that_there_is() -> None:
    there = {file.stem: names_in(file) for file in FOLDER.glob("test_*.py")}

    for file, test in (*gpu_plan.FIRST, *gpu_plan.LAST):
        assert any(each.startswith(test) for each in there[file]), (file, test)


def test_the_most_telling_come_first_and_the_slowest_last() -> None:
    wanted = [
        ("test_verdicts_on_gpu", "test_anything"),
        ("test_execution_on_gpu", "test_how_much_faster_a_graph_is[lasagne-mlp]"),
        ("test_training_on_gpu", "test_cpu_to_gpu_and_back_keeps_the_loss_curve[adam]"),
        ("test_doctor_on_gpu", "test_not_named_anywhere"),
        ("test_execution_on_gpu", "test_compiled_steps_on_the_gpu[lasagne-mlp]"),
    ]

    places = [gpu_plan.place(*each) for each in wanted]
    assert places == sorted(set(places))


def test_what_comes_last_does_so_though_its_file_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_plan, "FIRST", (("test_one", ""),))
    monkeypatch.setattr(gpu_plan, "LAST", (("test_one", "test_slow"),))

    assert gpu_plan.place("test_one", "test_slow[2]") > gpu_plan.place("test_other", "test_it")
    assert gpu_plan.place("test_one", "test_fast") < gpu_plan.place("test_other", "test_it")


def test_nothing_begins_when_the_time_is_nearly_over() -> None:
    assert gpu_plan.too_late(gpu_plan.LAST_START_S - 1) is None
    told = gpu_plan.too_late(gpu_plan.LAST_START_S + 1)
    assert told is not None and "of 360 s" in told


def test_a_figure_of_the_table_keeps_its_digits() -> None:
    lines = gpu_plan.table([("a rate", 8411234.5, "samples/s"), ("an error", 3e-7, ""), ("none", 0.0, "x")])

    assert [line.split()[-2:] for line in lines] == [
        ["8,411,234.500", "samples/s"],
        ["error", "3e-07"],
        ["0.000", "x"],
    ]


# ----------------------------------------------------------------------------- nvidia-smi


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


# ------------------------------------------------------------------------------ the load


def test_a_load_does_what_it_is_told_and_counts_it() -> None:
    with gpu_load.Load("cpu", copy_bytes=1 << 16) as load:
        assert load.uuid == ""
        done = {}
        for stage in gpu_load.STAGES:
            load.begin(stage)
            done[stage] = load.end()

    for stage in (gpu_load.TO_DEVICE, gpu_load.TO_HOST):
        assert done[stage].copied_bytes % (gpu_load.COPIES << 16) == 0
    assert done[gpu_load.IDLE].copied_bytes == done[gpu_load.PRODUCTS].copied_bytes == 0
    assert all(stage.seconds > 0 for stage in done.values())
    assert gpu_load.Stage(2.0, 100).bytes_per_s == 50.0


@pytest.mark.parametrize(
    ("seen", "counted"),
    [
        ([], []),
        ([0.1, 0.1, 0.5, 0.5], []),
        ([0.1, 0.1, 0.5, 0.5, 0.9, 0.9, 0.91], [0.9, 0.91]),
        ([None, None, 0.4, 0.9, None, 0.8], [0.9, 0.8]),
    ],
)
def test_what_was_known_before_a_load_does_not_count(
    seen: Sequence[float | None], counted: list[float]
) -> None:
    assert gpu_load.settled(seen) == counted


# ------------------------------------------------------------------------ sessions that tell


SETTINGS = initial(small("lasagne-mlp"), "cuda:0")
BURST = Profile(
    steps=5, step_ms=0.5, work_ms=0.1, launches=33, work={"matmul": KindOfWork(ms=0.05, count=11)}
)


def sample(t: float, profile: Profile | None = None, settings: Settings = SETTINGS) -> Sample:
    return Sample(t=t, step=1, epoch=0, settings=settings, steady=True, profile=profile)


def verdict(t: float, bottleneck: str = names.LAUNCH) -> Verdict:
    return Verdict(t=t, bottleneck=bottleneck, evidence=[], remedies=[])


def change(t: float, ok: bool = True) -> Change:
    return Change(t=t, step=1, setting="execution", from_="eager", to="graph", ok=ok)


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [sample(1.0, BURST)],
        [verdict(1.0), sample(3.0)],
        [sample(1.0, BURST), verdict(1.0, names.CANNOT_SAY), sample(9.0)],
        # It has only just been told, or was told before the burst, of which it knew nothing.
        [sample(1.0, BURST), verdict(1.0), sample(1.5)],
        [verdict(0.5), sample(1.0, BURST), sample(4.0)],
        # It is about other settings, and so is the burst.
        [sample(1.0, BURST), verdict(1.0), change(2.0), sample(9.0)],
        [sample(1.0, BURST), change(2.0), verdict(3.0), sample(9.0)],
    ],
)
def test_no_verdict_stands(entries: list[Entry]) -> None:
    assert standing(entries) is None


@pytest.mark.parametrize(
    "entries",
    [
        [sample(1.0, BURST), verdict(1.0), sample(2.0)],
        [verdict(0.5), sample(1.0, BURST), sample(7.5)],
        [change(0.5), sample(1.0, BURST), verdict(1.0), sample(2.0)],
        [sample(1.0, BURST), verdict(1.0), change(1.5, ok=False), sample(2.0)],
        [sample(1.0, BURST), verdict(1.0, names.INPUT), verdict(3.0), sample(4.0)],
    ],
)
def test_a_verdict_stands(entries: list[Entry]) -> None:
    found = standing(entries)
    assert found is not None and found.bottleneck == names.LAUNCH


def test_the_newest_burst_is_of_the_settings_in_force() -> None:
    newer = structs.replace(BURST, launches=2)
    entries: list[Entry] = [sample(1.0, BURST), sample(2.0, newer), sample(3.0)]

    found = newest_burst(entries)

    assert found is not None and of_burst(found) is newer
    assert newest_burst([*entries, change(4.0), sample(5.0)]) is None


def test_what_is_named_and_offered_is_of_all_findings() -> None:
    graph = Remedy(setting="execution", to="graph", predicted_ratio=3.0, why="one launch")
    finding = Finding(bottleneck=names.OPTIMIZER, sentence="", evidence=[], remedies=[graph])
    told = structs.replace(verdict(1.0), others=[finding])

    assert named(told) == [names.LAUNCH, names.OPTIMIZER]
    assert remedy_to(told, "execution", "graph") is graph
    assert remedy_to(told, "execution", "compiled") is None


def effect(ratio: float, predicted: float | None) -> Effect:
    rate = Rate(samples_per_s=1.0, q25=1.0, q75=1.0, samples=8)
    return Effect(
        t=1.0,
        change=0,
        before=rate,
        after=rate,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
        predicted_ratio=predicted,
        learnt="it was overlapped",
    )


def test_a_prediction_is_missed_beyond_the_tolerance() -> None:
    assert missed(effect(3.5, 3.0), 0.2) is None
    assert missed(effect(2.5, 3.0), 0.2) is None
    assert missed(effect(4.5, 3.0), 0.2) == "predicted ×3.00, measured ×4.50: +50% (it was overlapped)"
    assert missed(effect(1.5, None), 0.2) == "nothing was predicted; measured ×1.50"


def test_spans_are_a_share_of_the_step() -> None:
    phases = {"h2d": Phase(host_ms=0.1, device_ms=0.1), "forward": Phase(host_ms=0.1, device_ms=0.4)}
    timed = structs.replace(sample(1.0), phases=phases, step_ms=StepMs(p50=0.5, p95=0.5, mean=0.5))
    assert span_share(timed) == pytest.approx(0.8)


def test_a_real_session_tells_its_verdict_and_its_effects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Diagnosed(small("keras-mnist-mlp", 2000, 0), "cpu", threads=1, batch_size=16) as training:
        burst = of_burst(training.profiled())
        assert burst.launches > 0
        came = training.effect("batch_size", 64)
        assert came.ratio > 0 and training.settings.batch_size == 64
        assert training.samples_per_s() > 0
