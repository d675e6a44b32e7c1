"""What GPUs and host do at one moment: the structs behind a sample's `gpus` and `host`.

Null is what could not be measured; a measured zero is 0. Units are in the names; fractions are 0..1.
Directions are the GPU's: rx is host to device, tx device to host.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ComputeMode = Literal["default", "exclusive_thread", "prohibited", "exclusive_process"]
DriverModel = Literal["wddm", "tcc", "mcdm"]
Virtualisation = Literal["none", "passthrough", "vgpu", "host_vgpu", "host_vsga"]
MemorySource = Literal["driver", "driver_with_reserved", "host"]


class GpuProcess(Struct, frozen=True, kw_only=True):
    """A process that has something on a GPU."""

    pid: int
    name: str | None = None
    memory_bytes: int | None = None
    """Null where the driver does not account memory per process (Windows' WDDM)."""
    ours: bool | None = None
    """Whether it is the worker or one that the worker started. Null where that cannot be told: the driver
    names processes by numbers of another system (a container's host)."""


class GpuDetail(Struct, frozen=True, kw_only=True):
    """The long tail of a GPU: what stays as it is, or moves in seconds to days."""

    pci_bus_id: str | None = None
    """As 00000000:1B:00.0; CUDA_DEVICE_ORDER=PCI_BUS_ID sorts by it."""
    compute_capability: str | None = None
    pcie_generation_gpu_max: int | None = None
    """What the card alone allows; `pcie_generation_max` is what card and slot allow together."""
    memory_clock_max_mhz: int | None = None
    memory_source: MemorySource | None = None
    """"driver": used is without what the driver reserves; "driver_with_reserved": an older driver, used
    is with it; "host": the GPU shares the host's memory, and these are the host's figures."""
    persistence: bool | None = None
    compute_mode: ComputeMode | None = None
    mig_mode: bool | None = None
    driver_model: DriverModel | None = None
    """Of Windows; null elsewhere."""
    virtualisation: Virtualisation | None = None
    ecc_mode: bool | None = None
    ecc_corrected: int | None = None
    """Errors since the driver was loaded."""
    ecc_uncorrected: int | None = None
    """Errors since the driver was loaded."""
    remapped_rows_corrected: int | None = None
    """Rows of memory replaced in the card's life, after corrected errors."""
    remapped_rows_uncorrected: int | None = None
    remapping_pending: bool | None = None
    """A row is to be replaced at the next reset of the GPU."""
    remapping_failed: bool | None = None
    """There was no spare row left."""
    retired_pages_pending: bool | None = None
    """A page of memory is to be taken out of use at the next reset of the GPU (before Ampere)."""
    pcie_replays: int | None = None
    """Packets that had to be sent again since the driver was loaded."""
    xid_errors: list[int] | None = None
    """The driver's error numbers (Xid) for this GPU since telemetry began, the last ones."""
    processes: list[GpuProcess] | None = None
    denied: list[str] = []
    """What this user may not read, by field."""


class Gpu(Struct, frozen=True, kw_only=True):
    """One GPU (or one MIG device of it) as its driver sees it."""

    index: int
    """The driver's (NVML's) number, which need not be CUDA's."""
    uuid: str | None = None
    name: str | None = None
    utilisation: float | None = None
    """Share of time in which any kernel was resident."""
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    pcie_tx_bytes_per_s: float | None = None
    pcie_rx_bytes_per_s: float | None = None
    pcie_source: str | None = None
    """Where the PCIe rates come from: "gpm", "byte_counters" or "20_ms_window"."""
    pcie_generation: int | None = None
    """Now; an idle GPU lowers it to save power."""
    pcie_width: int | None = None
    pcie_generation_max: int | None = None
    """What card and slot allow together."""
    pcie_width_max: int | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    memory_clock_mhz: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: int | None = None
    throttle: list[str] | None = None
    """Why the clocks are lower than they could be, right now; empty where nothing holds them back."""
    sm_active: float | None = None
    """Share of time in which a streaming multiprocessor had work, over all of them."""
    tensor_active: float | None = None
    dram_active: float | None = None
    """Of the device memory's bandwidth."""
    mig: int | None = None
    """The number of the MIG device on this GPU; null for the whole GPU. Its clocks, power, temperature and
    link are the whole GPU's."""
    memory_free_bytes: int | None = None
    memory_reserved_bytes: int | None = None
    """What the driver keeps for itself."""
    memory_ours_bytes: int | None = None
    """Of the worker and what it started, as the driver accounts it: with CUDA context and workspaces."""
    memory_others_bytes: int | None = None
    """Of all other processes."""
    pcie_link_bytes_per_s: float | None = None
    """What the link can carry one way as it runs under load (as card and slot allow, until it was seen
    under load); the rates are to be compared with this."""
    graphics_active: float | None = None
    """Share of time in which a compute or graphics context was active."""
    sm_occupancy: float | None = None
    """Warps resident, of those that would fit."""
    nvlink_tx_bytes_per_s: float | None = None
    nvlink_rx_bytes_per_s: float | None = None
    """Over all links together."""
    memory_temperature_c: int | None = None
    fan: float | None = None
    """Of its full speed; null where there is none to be asked."""
    performance_state: int | None = None
    """P0 (full) to P15."""
    throttled: dict[str, float] | None = None
    """Share of the last second or so in which clocks were held back, by reason; those at 0 are absent."""
    throttled_s: dict[str, float] | None = None
    """Seconds of it since telemetry began."""
    age_s: float | None = None
    """How old these values were when the sample was made: it grows while the driver is silent."""
    trouble: str | None = None
    """What is wrong with reading it, in one line."""
    detail: GpuDetail | None = None
    """Only in samples in which it changed, and every half minute: the last one that was there holds."""


class HostLoad(Struct, frozen=True, kw_only=True):
    """What the host does. Utilisation of the whole host is 0..1; of processes in cores."""

    cpu_utilisation: float | None = None
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    worker_cpu_utilisation: float | None = None
    """Cores' worth of CPU time the worker and its children use: 1.0 is one core fully busy."""
    worker_rss_bytes: int | None = None
    screen_cpu_utilisation: float | None = None
    """Cores' worth of CPU time this program's own process uses."""
    nvml_ms_per_s: float | None = None
    """Milliseconds spent inside driver calls per second of wall time."""
    busiest_core_utilisation: float | None = None
    """Of the core that was busiest, among those this process may use."""
    iowait: float | None = None
    """Share of all cores' time in which a core idled while a disk had to deliver."""
    others_cpu_utilisation: float | None = None
    """Cores' worth of CPU time used by neither the worker nor this program."""
    usable_cores: float | None = None
    """Cores this process may use: its affinity, and the time its control groups allow (2.5 is possible)."""
    worker_processes: int | None = None
    """The worker and its children."""
