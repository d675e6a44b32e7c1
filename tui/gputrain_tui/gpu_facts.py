"""All that is known of one GPU, the long tail too, as groups of labels and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gputrain_runner.timeline import Gpu, GpuDetail, GpuProcess

from . import format, gpu_text
from .known_gpus import KnownGpu
from .slowdowns import SHORT

Fact = tuple[str, str]
"""A label and a text; `format.UNKNOWN` where it is not known."""
MEMORY_SOURCES = {
    "driver": "",
    "driver_with_reserved": "used is with what the driver reserves",
    "host": "shared with the host",
}
DRIVER_MODELS = {"wddm": "WDDM", "tcc": "TCC", "mcdm": "MCDM"}
VIRTUALISATIONS = {
    "none": "none",
    "passthrough": "passed through",
    "vgpu": "vGPU",
    "host_vgpu": "host of vGPUs",
    "host_vsga": "host of vSGA",
}


@dataclass(frozen=True, slots=True)
class Group:
    """Facts that belong together."""

    title: str
    facts: list[Fact]


def groups(known: KnownGpu, busy: float | None, driver: str | None) -> list[Group]:
    """The facts in groups.

    Args:
        known: the GPU.
        busy: the share of time in which it ran this training's work; None where that is not known.
        driver: the driver's version.
    """
    gpu, detail = known.gpu, known.detail or GpuDetail()
    return [
        Group("ACTIVITY", list(_activity(gpu, busy))),
        Group("MEMORY", list(_memory(known, detail))),
        Group("LINK", list(_link(gpu, detail))),
        Group("CLOCKS, POWER, HEAT", list(_clocks(gpu, detail))),
        Group("CLOCKS HELD BACK", list(_held_back(gpu))),
        Group("SET UP", list(_set_up(gpu, detail, driver))),
        Group("HEALTH", list(_health(detail))),
    ]


def processes(detail: GpuDetail | None) -> list[GpuProcess] | None:
    """Who has something there, the training first, then by size; None where that is not known."""
    if detail is None or detail.processes is None:
        return None
    return sorted(detail.processes, key=lambda each: (not each.ours, -(each.memory_bytes or 0), each.pid))


def whose(process: GpuProcess) -> str:
    """Whether a process is this training's."""
    return format.UNKNOWN if process.ours is None else "this training" if process.ours else "another's"


def _activity(gpu: Gpu, busy: float | None) -> Iterator[Fact]:
    yield "utilisation", format.percent(gpu.utilisation)
    yield "busy", format.percent(busy)
    yield "context active", format.percent(gpu.graphics_active)
    yield "SM active", format.percent(gpu.sm_active)
    yield "SM occupancy", format.percent(gpu.sm_occupancy)
    yield "tensor active", format.percent(gpu.tensor_active)
    yield "DRAM active", format.percent(gpu.dram_active)


def _memory(known: KnownGpu, detail: GpuDetail) -> Iterator[Fact]:
    gpu = known.gpu
    total = "" if gpu.memory_total_bytes is None else f" of {format.memory(gpu.memory_total_bytes)}"
    yield "used", f"{format.memory(gpu.memory_used_bytes)}{total}"
    note = MEMORY_SOURCES[detail.memory_source] if detail.memory_source is not None else ""
    if note:
        yield "counted", note
    if known.memory is None:
        yield "this program", format.memory(gpu.memory_ours_bytes)
    for part in gpu_text.memory_parts(known):
        if known.memory is None and part.name in ("allocated", "cached", "context", "not told"):
            continue
        yield part.name, format.memory(part.size_bytes)


def _link(gpu: Gpu, detail: GpuDetail) -> Iterator[Fact]:
    yield "now", gpu_text.link(gpu.pcie_generation, gpu.pcie_width)
    yield "card and slot", gpu_text.link(gpu.pcie_generation_max, gpu.pcie_width_max)
    alone = detail.pcie_generation_gpu_max
    yield "card alone", format.UNKNOWN if alone is None else f"gen {alone}"
    yield "carries", format.data_rate(gpu.pcie_link_bytes_per_s)
    for label, rate in (("rx", gpu.pcie_rx_bytes_per_s), ("tx", gpu.pcie_tx_bytes_per_s)):
        share = gpu_text.of_link(rate, gpu)
        yield label, f"{format.data_rate(rate)}{f', {share}' if share else ''}"
    yield "rates", gpu_text.SOURCES.get(gpu.pcie_source or "", format.UNKNOWN)
    yield "replays", format.count(detail.pcie_replays)
    yield "NVLink rx", format.data_rate(gpu.nvlink_rx_bytes_per_s)
    yield "NVLink tx", format.data_rate(gpu.nvlink_tx_bytes_per_s)


def _clocks(gpu: Gpu, detail: GpuDetail) -> Iterator[Fact]:
    yield "SM clock", gpu_text.of_limit(gpu.sm_clock_mhz, gpu.sm_clock_max_mhz, "MHz")
    yield "memory clock", gpu_text.of_limit(gpu.memory_clock_mhz, detail.memory_clock_max_mhz, "MHz")
    yield "power", gpu_text.of_limit(gpu.power_w, gpu.power_limit_w, "W")
    state = gpu.performance_state
    yield "performance", format.UNKNOWN if state is None else f"P{state}"
    yield "temperature", gpu_text.celsius(gpu.temperature_c)
    yield "memory", gpu_text.celsius(gpu.memory_temperature_c)
    yield "fan", format.percent(gpu.fan)


def _held_back(gpu: Gpu) -> Iterator[Fact]:
    """By reason: the share of the last second, and the seconds since telemetry began."""
    if gpu.throttled is None and gpu.throttled_s is None:
        yield "counters", format.UNKNOWN
        return
    shares, seconds = gpu.throttled or {}, gpu.throttled_s or {}
    for reason in dict.fromkeys([*shares, *seconds]):
        in_all = "" if reason not in seconds else f", {format.lasting(seconds[reason])} in all"
        now = None if gpu.throttled is None else shares.get(reason, 0.0)
        yield SHORT.get(reason, reason), f"{format.percent(now)} now{in_all}"
    if not shares and not seconds:
        yield "counters", format.UNKNOWN if gpu.throttled_s is None else "none since the start"


def _set_up(gpu: Gpu, detail: GpuDetail, driver: str | None) -> Iterator[Fact]:
    yield "PCI bus", detail.pci_bus_id or format.UNKNOWN
    yield "capability", detail.compute_capability or format.UNKNOWN
    yield "driver", driver or format.UNKNOWN
    yield "persistence", _switch(detail.persistence)
    mode = detail.compute_mode
    yield "compute mode", format.UNKNOWN if mode is None else mode.replace("_", " ")
    yield "MIG", _switch(detail.mig_mode) if gpu.mig is None else f"device {gpu.mig} of this GPU"
    kind = detail.virtualisation
    yield "virtual", format.UNKNOWN if kind is None else VIRTUALISATIONS[kind]
    model = detail.driver_model
    yield "driver model", format.UNKNOWN if model is None else DRIVER_MODELS[model]


def _health(detail: GpuDetail) -> Iterator[Fact]:
    yield "ECC", _switch(detail.ecc_mode)
    yield "corrected", format.count(detail.ecc_corrected)
    yield "uncorrected", format.count(detail.ecc_uncorrected)
    yield "rows replaced", _pair(detail.remapped_rows_corrected, detail.remapped_rows_uncorrected)
    yield "row to replace", _yes(detail.remapping_pending)
    yield "spares used up", _yes(detail.remapping_failed)
    yield "page to retire", _yes(detail.retired_pages_pending)
    errors = detail.xid_errors
    yield "Xid errors", format.UNKNOWN if errors is None else ", ".join(map(str, errors)) or "none"


def _switch(value: bool | None) -> str:
    return format.UNKNOWN if value is None else "on" if value else "off"


def _yes(value: bool | None) -> str:
    return format.UNKNOWN if value is None else "yes" if value else "no"


def _pair(corrected: int | None, uncorrected: int | None) -> str:
    if corrected is None and uncorrected is None:
        return format.UNKNOWN
    return f"{format.count(corrected)} corrected, {format.count(uncorrected)} not"
