"""What a screen has read from its feed so far: series for the charts, medians for the numbers.

Knows nothing of screens: it is pulled, and answers what is worth drawing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from statistics import median, quantiles

from gputrain_runner.feed import Feed
from gputrain_runner.timeline import Change, Entry, Gpu, Sample, Validation

from . import format
from .known_gpus import KnownGpu, KnownGpus, key_of
from .series import Series
from .widgets.time_chart import Marker

NUMBERS_WINDOW_S = 2.0
"""Numbers are medians over so long, so that their digits can be read."""
RATE_WINDOW_S = 10.0
"""The spread of the rate is taken over so long."""
FEWEST_FOR_SPREAD = 5
DRIVER_CALLS = "driver calls"


def costs_of(sample: Sample | None) -> list[tuple[str, str]]:
    """What this program itself takes, as labels and texts; what is not measured is left out."""
    host = None if sample is None else sample.host
    costs: list[tuple[str, str]] = []
    if host is not None and host.nvml_ms_per_s is not None:
        share = format.percent(host.nvml_ms_per_s / 1e3, 2)
        costs.append((DRIVER_CALLS, f"{host.nvml_ms_per_s:.2f} ms a second ({share} of the time)"))
    if host is not None and host.screen_cpu_utilisation is not None:
        costs.append(("this screen", f"{format.percent(host.screen_cpu_utilisation, 1)} of a core"))
    return costs


def _gib(value_bytes: float | None) -> float | None:
    return None if value_bytes is None else value_bytes / 2**30


SAMPLE_SERIES: dict[str, Callable[[Sample], float | None]] = {
    "rate": lambda sample: sample.samples_per_s,
    "loss": lambda sample: sample.loss,
    "host_cpu": lambda sample: sample.host.cpu_utilisation if sample.host else None,
    "host_memory_gib": lambda sample: _gib(sample.host.memory_used_bytes) if sample.host else None,
}
GPU_SERIES: dict[str, Callable[[Gpu], float | None]] = {
    "gpu_utilisation": lambda gpu: gpu.utilisation,
    "gpu_memory_gib": lambda gpu: _gib(gpu.memory_used_bytes),
    "pcie_rx": lambda gpu: gpu.pcie_rx_bytes_per_s,
    "pcie_tx": lambda gpu: gpu.pcie_tx_bytes_per_s,
    "sm_active": lambda gpu: gpu.sm_active,
    "sm_clock_mhz": lambda gpu: gpu.sm_clock_mhz,
    "power_w": lambda gpu: gpu.power_w,
}


class History:
    """Reads a feed and keeps what the panels draw. Times are the session's, in seconds."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._position = 0
        self._recent: deque[Sample] = deque()
        self.series = {name: Series() for name in (*SAMPLE_SERIES, *GPU_SERIES)}
        self.markers: list[Marker] = []
        self.latest: Sample | None = None
        self.gpus = KnownGpus()
        self.shown: KnownGpu | None = None
        """The GPU that trains, or the first one; None until there was one."""
        self.validation: Validation | None = None
        self.time_stands = False
        """Whether a pause holds the time that is shown: that of a recording; a live one goes on."""
        self._paused_s: float | None = None
        """The time up to which rates are from before a pause; None before the first."""
        self._awaits_steps = False
        """It was paused, and no step has been told of since."""

    def pull(self) -> tuple[int, Sequence[Entry]]:
        """Take in what is new: the position of the first new entry, and the new entries."""
        entries, after = self._feed.read(self._position)
        # Only the older half of a timeline is thinned, so the newest entries are counted from its end.
        first = after - len(entries)
        self._position = after
        if self.paused:
            self._paused_s, self._awaits_steps = self._feed.elapsed_s, True
        for entry in entries:
            if isinstance(entry, Sample):
                self._take_sample(entry)
            elif isinstance(entry, Change) and entry.ok:
                label = format.setting_change(entry.setting, entry.from_, entry.to)
                self.markers.append(Marker(entry.t, label))
        return first, entries

    def number(self, read: Callable[[Sample], float | None]) -> float | None:
        """The median of the last two seconds under the settings in force; None where nothing was measured."""
        if self.latest is None:
            return None
        since = self.latest.t - NUMBERS_WINDOW_S
        values = [
            value for sample in self._recent if sample.t > since and (value := read(sample)) is not None
        ]
        return median(values) if values else None

    @property
    def paused(self) -> bool:
        """Whether nothing steps because it was paused, while time goes on."""
        return self._feed.state == "paused" and not self.time_stands

    def rate(self) -> float | None:
        """Samples a second, as a median; None while nothing steps: paused, or not yet gone on."""
        return None if self.paused or self._feed.state == "died" else self.number(self._rate_of)

    def _rate_of(self, sample: Sample) -> float | None:
        """Those of a sample, where no pause lies behind it."""
        earlier = self._paused_s is not None and sample.t <= self._paused_s
        return None if earlier else sample.samples_per_s

    def gpu_number(self, read: Callable[[Gpu], float | None]) -> float | None:
        """The same for a figure of the GPU shown."""

        def of_sample(sample: Sample) -> float | None:
            gpu = self._shown_in(sample)
            return None if gpu is None else read(gpu)

        return self.number(of_sample)

    def rate_spread(self) -> float | None:
        """Interquartile range of the steady rate over ten seconds, as a share of its median."""
        if self.latest is None:
            return None
        since = self.latest.t - RATE_WINDOW_S
        rates = [
            rate
            for sample in self._recent
            if sample.t > since and sample.steady and (rate := self._rate_of(sample)) is not None
        ]
        if len(rates) < FEWEST_FOR_SPREAD:
            return None
        low, middle, high = quantiles(rates, n=4)
        return (high - low) / middle if middle else None

    def steadiness(self) -> str:
        """In words, how far the rate can be quoted; "" where there is none."""
        if self.latest is None or self.paused or self._feed.state == "died":
            return ""
        if self._awaits_steps:
            return "settling"
        if self.latest.samples_per_s is None:
            return ""
        if not self.latest.steady:
            return "settling"
        spread = self.rate_spread()
        return "" if spread is None else f"steady, IQR {format.percent(spread, 1)}"

    @property
    def gpu(self) -> Gpu | None:
        """The values of the GPU shown, as they were last known; None until there was one."""
        return None if self.shown is None else self.shown.gpu

    def trains(self, gpu: Gpu) -> bool:
        """Whether training runs on this GPU."""
        return gpu.uuid is not None and gpu.uuid == self._feed.training_gpu

    def _take_sample(self, sample: Sample) -> None:
        if self.latest is not None and sample.settings != self.latest.settings:
            self._recent.clear()
        self.latest = sample
        if self._rate_of(sample) is not None:
            self._awaits_steps = False
        self._recent.append(sample)
        while self._recent[0].t < sample.t - RATE_WINDOW_S:
            self._recent.popleft()
        if sample.validation is not None:
            self.validation = sample.validation
        for name, read in SAMPLE_SERIES.items():
            self.series[name].append(sample.t, read(sample))
        self._take_gpus(sample)

    def _take_gpus(self, sample: Sample) -> None:
        self.gpus.take(sample, self.trains)
        before, self.shown = self.shown, self.gpus.chosen(self.trains)
        gpu = self._shown_in(sample)
        if gpu is None and sample.gpus:
            return  # There is news of others alone.
        another = before is not None and before is not self.shown
        for name, read in GPU_SERIES.items():
            # A gap where the curve goes on with another GPU.
            self.series[name].append(sample.t, None if gpu is None or another else read(gpu))

    def _shown_in(self, sample: Sample) -> Gpu | None:
        if self.shown is None:
            return None
        key = key_of(self.shown.gpu)
        return next((gpu for gpu in sample.gpus if key_of(gpu) == key), None)
