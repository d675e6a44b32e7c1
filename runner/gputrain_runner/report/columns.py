"""A session's samples as columns of numbers: what charts and medians are made from.

A recording may be hundreds of megabytes; its numbers alone are a tenth of that. Unknown is NaN here.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence

from ..timeline import PHASES, Gpu, Sample

NAN = math.nan


def _of(part: str, field: str) -> Callable[[Sample], float | None]:
    def read(sample: Sample) -> float | None:
        whole = getattr(sample, part)
        return None if whole is None else getattr(whole, field)

    return read


def _of_phase(name: str, side: str) -> Callable[[Sample], float | None]:
    def read(sample: Sample) -> float | None:
        phase = (sample.phases or {}).get(name)
        return None if phase is None else getattr(phase, side)

    return read


OF_SAMPLE: dict[str, Callable[[Sample], float | None]] = {
    "samples_per_s": lambda sample: sample.samples_per_s,
    "step_p50_ms": _of("step_ms", "p50"),
    "step_p95_ms": _of("step_ms", "p95"),
    "step_mean_ms": _of("step_ms", "mean"),
    "loss": lambda sample: sample.loss,
    "dispatch_ms": lambda sample: sample.dispatch_ms,
    "busy": lambda sample: sample.busy,
    "flops_per_s": lambda sample: sample.flops_per_s,
    **{f"{name}_host_ms": _of_phase(name, "host_ms") for name in PHASES},
    **{f"{name}_device_ms": _of_phase(name, "device_ms") for name in PHASES},
    "allocated_bytes": _of("memory", "allocated_bytes"),
    "reserved_bytes": _of("memory", "reserved_bytes"),
    "peak_allocated_bytes": _of("memory", "peak_allocated_bytes"),
    "cpu_utilisation": _of("host", "cpu_utilisation"),
    "busiest_core_utilisation": _of("host", "busiest_core_utilisation"),
    "worker_cpu_utilisation": _of("host", "worker_cpu_utilisation"),
    "others_cpu_utilisation": _of("host", "others_cpu_utilisation"),
    "worker_rss_bytes": _of("host", "worker_rss_bytes"),
}
"""What is kept of each sample, by its name here."""

OF_GPU = (
    "utilisation",
    "sm_active",
    "tensor_active",
    "dram_active",
    "memory_used_bytes",
    "memory_ours_bytes",
    "memory_others_bytes",
    "pcie_rx_bytes_per_s",
    "pcie_tx_bytes_per_s",
    "sm_clock_mhz",
    "power_w",
    "temperature_c",
)
"""What is kept of each GPU in a sample: fields of `Gpu`."""

LIMITS = (
    "memory_total_bytes",
    "pcie_link_bytes_per_s",
    "sm_clock_max_mhz",
    "power_limit_w",
    "pcie_generation",
    "pcie_width",
)
"""Fields of `Gpu` that hardly move: the last one known is kept."""


class Columns:
    """Numbers by name, all as long as `t`; times in seconds since the session began."""

    def __init__(self, names: Sequence[str]) -> None:
        self.t: array[float] = array("d")
        self._columns: dict[str, array[float]] = {name: array("d") for name in names}

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> Sequence[float]:
        return self._columns[name]

    def add(self, t: float, values: Sequence[float | None]) -> None:
        """One row, its values in the order of the names."""
        self.t.append(t)
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(NAN if value is None else value)

    def known(self, name: str) -> bool:
        """Whether it was ever measured."""
        return any(not math.isnan(value) for value in self._columns[name])

    def values(self, name: str, first: int = 0, last: int | None = None) -> list[float]:
        """What was measured in those rows."""
        return [value for value in self._columns[name][first:last] if not math.isnan(value)]


class SampleColumns(Columns):
    """The samples' own numbers, and which of them were steady."""

    def __init__(self) -> None:
        super().__init__(list(OF_SAMPLE))
        self.steady = bytearray()

    def add_sample(self, sample: Sample) -> None:
        """Take in the next sample."""
        self.add(sample.t, [read(sample) for read in OF_SAMPLE.values()])
        self.steady.append(sample.steady)

    def steady_values(self, name: str, first: int = 0, last: int | None = None) -> list[float]:
        """What was measured in those rows while it was steady."""
        rows = zip(self[name][first:last], self.steady[first:last], strict=True)
        return [value for value, steady in rows if steady and not math.isnan(value)]


class GpuColumns(Columns):
    """One GPU's numbers, with what it is and what limits it."""

    def __init__(self, gpu: Gpu) -> None:
        super().__init__(OF_GPU)
        self.index = gpu.index
        self.mig = gpu.mig
        self.uuid = gpu.uuid
        self.name = gpu.name
        self.limits: dict[str, float] = {}
        self.throttled_s: dict[str, float] = {}
        """Seconds in which clocks were held back, by reason."""

    def add_gpu(self, t: float, gpu: Gpu) -> None:
        """Take in what a sample says of it."""
        self.add(t, [getattr(gpu, name) for name in OF_GPU])
        self.name = gpu.name or self.name
        self.limits |= {name: value for name in LIMITS if (value := getattr(gpu, name)) is not None}
        if gpu.throttled_s is not None:
            self.throttled_s = gpu.throttled_s
