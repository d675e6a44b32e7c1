"""What the driver said of the training GPU over a window, as medians."""

from __future__ import annotations

import statistics
from collections import Counter, deque

from ..timeline import Gpu, GpuDetail, Sample
from .inputs import GpuState

MOST_READINGS = 40


class GpuGather:
    """Keeps the last readings of the GPU that trains."""

    def __init__(self) -> None:
        self.seen = 0
        """GPUs that the driver shows."""
        self._readings: deque[Gpu] = deque(maxlen=MOST_READINGS)
        self._detail: GpuDetail | None = None

    def begin(self) -> None:
        """The settings have changed: what was read before is of another load."""
        self._readings.clear()

    def take(self, sample: Sample, uuid: str | None) -> None:
        """The GPUs of a sample; `uuid` is the training one's."""
        self.seen = max(self.seen, len(sample.gpus))
        gpu = next((gpu for gpu in sample.gpus if uuid is not None and gpu.uuid == uuid), None)
        if gpu is None and len(sample.gpus) == 1:
            gpu = sample.gpus[0]
        if gpu is None:
            return
        if gpu.detail is not None:
            self._detail = gpu.detail
        if sample.steady or not self._readings:
            self._readings.append(gpu)

    def state(self) -> GpuState | None:
        """Its state; None where the driver has said nothing."""
        if not self._readings:
            return None
        newest = self._readings[-1]
        processes = (self._detail.processes if self._detail is not None else None) or []
        return GpuState(
            name=newest.name,
            utilisation=self._median("utilisation"),
            sm_active=self._median("sm_active"),
            tensor_active=self._median("tensor_active"),
            dram_active=self._median("dram_active"),
            sm_clock_mhz=self._median("sm_clock_mhz"),
            sm_clock_max_mhz=newest.sm_clock_max_mhz,
            throttle=self._throttle(),
            temperature_c=self._median("temperature_c"),
            power_w=self._median("power_w"),
            power_limit_w=newest.power_limit_w,
            memory_used_bytes=newest.memory_used_bytes,
            memory_total_bytes=newest.memory_total_bytes,
            pcie_generation=self._most("pcie_generation"),
            pcie_width=self._most("pcie_width"),
            pcie_generation_max=newest.pcie_generation_max,
            pcie_width_max=newest.pcie_width_max,
            pcie_rx_bytes_per_s=self._median("pcie_rx_bytes_per_s"),
            others_memory_bytes=newest.memory_others_bytes,
            others=[
                process.name or f"process {process.pid}" for process in processes if process.ours is False
            ],
            driver_model=None if self._detail is None else self._detail.driver_model,
        )

    def _median(self, field: str) -> float | None:
        known = [value for gpu in self._readings if (value := getattr(gpu, field)) is not None]
        return statistics.median(known) if known else None

    def _most(self, field: str) -> int | None:
        """The best seen: a link wakes up when it is used."""
        known = [value for gpu in self._readings if (value := getattr(gpu, field)) is not None]
        return max(known, default=None)

    def _throttle(self) -> list[str]:
        """Reasons that held in at least half of the readings."""
        reasons: Counter[str] = Counter()
        for gpu in self._readings:
            reasons.update(gpu.throttle or ())
        return [reason for reason, times in reasons.items() if 2 * times >= len(self._readings)]
