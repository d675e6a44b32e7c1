"""GPUs as a sample has them, for tests of what is shown of them: every value different from every other."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from gputrain_runner.timeline import Gpu, GpuDetail, GpuProcess, Memory

GIB = 2**30
MIB = 2**20

DETAIL = GpuDetail(
    pci_bus_id="00000000:1B:00.0",
    compute_capability="9.0",
    pcie_generation_gpu_max=6,
    memory_clock_max_mhz=3201,
    memory_source="driver_with_reserved",
    persistence=True,
    compute_mode="exclusive_process",
    mig_mode=False,
    driver_model="tcc",
    virtualisation="passthrough",
    ecc_mode=True,
    ecc_corrected=17,
    ecc_uncorrected=3,
    remapped_rows_corrected=5,
    remapped_rows_uncorrected=2,
    remapping_pending=True,
    remapping_failed=False,
    retired_pages_pending=False,
    pcie_replays=41,
    xid_errors=[63, 79],
    processes=[
        GpuProcess(pid=812, name="Xorg", memory_bytes=384 * MIB, ours=False),
        GpuProcess(pid=4711, name="python", memory_bytes=1336 * MIB, ours=True),
    ],
    denied=["remapped_rows_corrected"],
)

MEMORY = Memory(allocated_bytes=300 * MIB, reserved_bytes=424 * MIB, peak_allocated_bytes=350 * MIB)
"""What PyTorch holds on the training GPU: 300 MiB in tensors, 124 MiB cached."""

FULL = Gpu(
    index=0,
    uuid="GPU-1",
    name="NVIDIA H200",
    utilisation=0.61,
    memory_used_bytes=1720 * MIB,
    memory_total_bytes=141 * GIB,
    pcie_rx_bytes_per_s=412e6,
    pcie_tx_bytes_per_s=3.21e6,
    pcie_source="gpm",
    pcie_generation=4,
    pcie_width=8,
    pcie_generation_max=5,
    pcie_width_max=16,
    sm_clock_mhz=1410,
    sm_clock_max_mhz=1980,
    memory_clock_mhz=2619,
    power_w=142.0,
    power_limit_w=700.0,
    temperature_c=38,
    throttle=[],
    sm_active=0.04,
    tensor_active=0.02,
    dram_active=0.05,
    memory_free_bytes=138 * GIB,
    memory_reserved_bytes=600 * MIB,
    memory_ours_bytes=1336 * MIB,
    memory_others_bytes=384 * MIB,
    pcie_link_bytes_per_s=63e9,
    graphics_active=0.59,
    sm_occupancy=0.11,
    nvlink_tx_bytes_per_s=7.7e9,
    nvlink_rx_bytes_per_s=8.8e9,
    memory_temperature_c=45,
    fan=0.31,
    performance_state=2,
    throttled={"sw_power_cap": 0.34},
    throttled_s={"sw_power_cap": 125.0},
    age_s=0.1,
    detail=DETAIL,
)


def gpu(index: int = 0, **changed: Any) -> Gpu:
    """A card of which everything is known, number `index` of several, with some values changed."""
    return structs.replace(FULL, index=index, uuid=f"GPU-{index + 1}", **changed)


def nameless(index: int = 0) -> Gpu:
    """A card of which the driver tells nothing but that it is there."""
    return Gpu(index=index, uuid=f"GPU-{index + 1}", age_s=0.1)
