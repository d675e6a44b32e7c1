"""From a feed's entries to the inputs of a diagnosis: the newest steady window, and what surrounds it."""

from __future__ import annotations

import re
import statistics
from collections import deque
from collections.abc import Callable, Iterable

import msgspec
from msgspec import structs

from gputrain_presets import Preset

from ..settings import Settings, Value
from ..timeline import Change, Entry, Flags, Header, HostLoad, Message, Profile, Sample, StepMs
from .gpu_state import GpuGather
from .inputs import Inputs, Measured, StepTimes, Workload
from .workload import workload

WINDOW_S = 10.0
"""A window reaches back so far."""
MOST_SAMPLES = 60
"""And over so many samples at most, however often they come."""
CHURN_S = 60.0
"""Compilations are counted over so long."""
OF_A_CHANGE_S = 10.0
"""One that comes so soon after a change is that change's own."""
FEWEST_FOR_FASTEST = 8
"""Samples of a window that is remembered as the fastest."""
MOST_MEASURED = 64
"""Other settings that are remembered."""
_PREPARED = re.compile(r"^(?:compiled|captured) in ([\d.]+) s\b")
"""How the worker tells a compilation or a capture that fell into ordinary steps."""


class Gather:
    """Follows a timeline in its order; keeps a bounded part of it.

    Args:
        header: the session's, as far as it is known now.
    """

    def __init__(self, header: Callable[[], Header]) -> None:
        self._header = header
        self._window: deque[Sample] = deque(maxlen=MOST_SAMPLES)
        self._latest: Sample | None = None
        self._profile: Profile | None = None
        self._gpu = GpuGather()
        self._fastest_ms: dict[Settings, float] = {}
        self._measured: dict[Settings, Measured] = {}
        self._failed: list[tuple[str, Value]] = []
        self._preparations: deque[tuple[float, float]] = deque(maxlen=50)
        self._changed: str | None = None
        self._changed_t = -CHURN_S
        self._flags: Flags | None = None
        self._preset_of: tuple[object, Preset | None] = (None, None)

    @property
    def settings(self) -> Settings | None:
        """Those of the newest sample."""
        return None if self._latest is None else self._latest.settings

    def take(self, entry: Entry) -> None:
        """The next entry."""
        if isinstance(entry, Sample):
            self._take_sample(entry)
        elif isinstance(entry, Change):
            self._take_change(entry)
        elif isinstance(entry, Message) and entry.t - self._changed_t > OF_A_CHANGE_S:
            found = _PREPARED.match(entry.text)
            if found is not None:
                self._preparations.append((entry.t, float(found[1]) * 1e3))

    def inputs(self) -> Inputs | None:
        """Everything as of the newest sample; None before the first."""
        latest = self._latest
        if latest is None:
            return None
        header, settings = self._header(), latest.settings
        preset = self._preset(header)
        self._remember()
        probe = header.probe or {}
        churn = [took_ms for t, took_ms in self._preparations if latest.t - t <= CHURN_S]
        host = self._host()
        return Inputs(
            settings=settings,
            step=self._times(),
            profile=self._profile,
            ceilings=probe.get(settings.device),
            all_ceilings=probe,
            workload=None if preset is None else self._workload(preset, header, settings),
            preset=preset,
            devices=header.devices,
            gpu=None if settings.device == "cpu" else self._gpu.state(),
            gpus_seen=self._gpu.seen,
            host=host,
            memory=latest.memory,
            cores=_cores(host, header),
            torch=header.host.torch,
            cuda=header.host.cuda,
            flags=(self._flags or header.session.flags) or {},
            settling=self._settling(),
            preparations=len(churn),
            preparation_ms=sum(churn),
            changed=self._changed,
            fastest_ms=self._fastest(settings),
            measured=[one for one in self._measured.values() if one.settings != settings],
            failed=list(self._failed),
        )

    def _take_sample(self, sample: Sample) -> None:
        if self._latest is not None and sample.settings != self._latest.settings:
            self._remember()
            self.begin_window()
        self._latest = sample
        self._gpu.take(sample, self._training_gpu(sample.settings.device))
        if sample.profile is not None:
            self._profile = sample.profile
        if sample.step_ms is None or not sample.steady:
            return
        self._window.append(sample)
        while self._window[0].t < sample.t - WINDOW_S and len(self._window) > 3:
            self._window.popleft()

    def _take_change(self, change: Change) -> None:
        if not change.ok:
            self._failed.append((change.setting, change.to))
            del self._failed[:-MOST_MEASURED]
            return
        self._remember()
        self.begin_window()
        self._changed, self._changed_t = change.setting, change.t
        if change.flags is not None:
            self._flags = change.flags

    def begin_window(self) -> None:
        """What was seen so far is of other settings, or of another worker."""
        self._window.clear()
        self._profile = None
        self._gpu.begin()

    def _remember(self) -> None:
        """Keep what the window shows for comparison with other settings."""
        times = self._times()
        if times is None or times.samples_per_s is None or len(self._window) < 4:
            return
        settings = self._window[-1].settings
        self._measured.pop(settings, None)
        self._measured[settings] = Measured(
            settings=settings, step_ms=times.step_ms, samples_per_s=times.samples_per_s
        )
        while len(self._measured) > MOST_MEASURED:
            del self._measured[next(iter(self._measured))]

    def _fastest(self, settings: Settings) -> float | None:
        """The shortest step under these settings, the window's own included."""
        times = self._times()
        if times is not None and len(self._window) >= FEWEST_FOR_FASTEST:
            fastest_ms = min(times.step_ms, self._fastest_ms.pop(settings, times.step_ms))
            self._fastest_ms[settings] = fastest_ms
            while len(self._fastest_ms) > MOST_MEASURED:
                del self._fastest_ms[next(iter(self._fastest_ms))]
        return self._fastest_ms.get(settings)

    def _workload(self, preset: Preset, header: Header, settings: Settings) -> Workload | None:
        facts = workload(preset, settings.model_size)
        told = header.session.parameters
        if (
            facts is None
            or facts.parameters is not None
            or settings.model_size != header.session.settings.model_size
        ):
            return facts
        return structs.replace(facts, parameters=told)

    def _settling(self) -> str | None:
        if self._window:
            return None
        assert self._latest is not None
        if self._latest.step_ms is None:
            return "no steps have been timed yet"
        return "the steps are still settling" + ("" if self._changed is None else " after the last change")

    def _times(self) -> StepTimes | None:
        window = [sample for sample in self._window if sample.step_ms is not None]
        if not window:
            return None
        steps = [sample.step_ms for sample in window if sample.step_ms is not None]
        rates = [sample.samples_per_s for sample in window if sample.samples_per_s]
        per_s = [sample.steps_per_s for sample in window if sample.steps_per_s]
        seconds = (window[-1].t - window[0].t) * len(window) / max(1, len(window) - 1)
        return StepTimes(
            step_ms=self._step_ms(steps, per_s),
            p50_ms=statistics.median(step.p50 for step in steps),
            p95_ms=statistics.median(step.p95 for step in steps),
            spread=_spread(rates),
            samples_per_s=statistics.median(rates) if rates else None,
            seconds=seconds,
            steps=window[-1].step - window[0].step + round(statistics.median(per_s) * 0.25 if per_s else 1),
            host_ms=_phase_medians(window, "host_ms"),
            device_ms=_phase_medians(window, "device_ms"),
            dispatch_ms=_median(sample.dispatch_ms for sample in window),
            flops_per_s=_median(sample.flops_per_s for sample in window),
        )

    def _step_ms(self, steps: list[StepMs], per_s: list[float]) -> float:
        """Of every step on a GPU: the host's single ones come in fits and starts there, as its queue takes
        them."""
        if per_s and self._window[-1].settings.device != "cpu":
            return 1e3 / statistics.median(per_s)
        return statistics.median(step.mean for step in steps)

    def _host(self) -> HostLoad | None:
        """Medians over the window of what the host did."""
        loads = [sample.host for sample in self._window if sample.host is not None]
        if not loads:
            return None if self._latest is None else self._latest.host
        medians = {
            name: _median(getattr(load, name) for load in loads) for name in HostLoad.__struct_fields__
        }
        return msgspec.convert(medians, HostLoad, strict=False)

    def _training_gpu(self, device: str) -> str | None:
        return next((one.uuid for one in self._header().devices if one.device == device), None)

    def _preset(self, header: Header) -> Preset | None:
        """The preset of the header, read once; None where it is not a whole one."""
        told = header.session.preset
        if self._preset_of[0] is not told:
            try:
                preset: Preset | None = msgspec.convert(told, Preset)
            except msgspec.ValidationError:
                preset = None
            self._preset_of = (told, preset)
        return self._preset_of[1]


def _cores(host: HostLoad | None, header: Header) -> int | None:
    if host is not None and host.usable_cores is not None:
        return max(1, round(host.usable_cores))
    return header.host.cores


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _spread(rates: list[float]) -> float | None:
    if len(rates) < 4:
        return None
    q25, middle, q75 = statistics.quantiles(rates, n=4, method="inclusive")
    return (q75 - q25) / middle if middle else None


def _phase_medians(window: list[Sample], which: str) -> dict[str, float]:
    by_phase: dict[str, list[float]] = {}
    for sample in window:
        for name, phase in (sample.phases or {}).items():
            value = getattr(phase, which)
            if value is not None:
                by_phase.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in by_phase.items()}
