"""A real session without a screen whose verdicts, bursts and effects can be waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TypeVar

from gputrain_presets import Preset
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.options import SessionOptions
from gputrain_runner.settings import Settings, Value
from gputrain_runner.steering import Steering, rate_of
from gputrain_runner.telemetry import Telemetry
from gputrain_runner.timeline import Change, Effect, Entry, Message, Profile, Remedy, Sample, Verdict

LONG_AGO_S = 6.0
"""A verdict that stood before a burst, and stands so long after it, stands with it."""
STANDS_S = 1.0
"""How long a verdict must stand: it is judged once a second."""
PATIENCE_S = 60.0

_Found = TypeVar("_Found")


class Diagnosed:
    """The session, as a context; it trains from the first step on.

    Attributes:
        entries: its timeline so far.
    """

    def __init__(self, preset: Preset, device: str, **chosen: Value) -> None:
        """Prepare it.

        Args:
            preset: what to train.
            device: where.
            chosen: the settings that it does not start with by itself.
        """
        self.entries: list[Entry] = []
        self._telemetry = Telemetry()
        overrides = [(name, str(value)) for name, value in chosen.items()]
        options = SessionOptions(preset=preset, device=device, overrides=overrides)
        self.steering = Steering(options, self._telemetry, self._take)

    def __enter__(self) -> Diagnosed:
        self._telemetry.start()
        self.steering.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.steering.__exit__(kind, error, trace)
        self._telemetry.stop()

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self.steering.settings

    def turn(self, **wanted: Value) -> None:
        """Change settings, each if it is not so already; AssertionError where one cannot be."""
        self.steering.wait_until_training()
        refused = self.steering.turn(wanted)
        assert refused is None, refused

    def verdict(self) -> Verdict:
        """What is told of the settings in force, once a burst under them has been judged."""
        return self._await(lambda: standing(self.entries))

    def profiled(self) -> Sample:
        """The sample of the newest burst under the settings in force."""
        return self._await(lambda: newest_burst(self.entries))

    def effect(self, setting: str, to: Value) -> Effect:
        """Turn a setting; what came of it."""
        before = len(self.entries)
        self.turn(**{setting: to})
        return self._await(lambda: effect_of(self.entries, setting, to, before))

    def samples_per_s(self) -> float:
        """The rate under the settings in force, from new samples."""
        return rate_of(self.steering.measure()).samples_per_s

    def _take(self, first: int, entries: Sequence[Entry]) -> None:
        assert first == len(self.entries), "the timeline has been thinned"
        self.entries += entries

    def _await(self, look: Callable[[], _Found | None]) -> _Found:
        until = time.monotonic() + PATIENCE_S
        while True:
            found = look()
            if found is not None:
                return found
            assert time.monotonic() < until, self._told()
            self.steering.let_run(0.1)

    def _told(self) -> str:
        """What the session has said, for whoever looks into why something did not come."""
        said = [each.sentence for each in self.entries if isinstance(each, Verdict)]
        said += [each.text for each in self.entries if isinstance(each, Message)]
        return "; ".join(["in vain", *said])


def since_change(entries: Sequence[Entry]) -> Sequence[Entry]:
    """What came after the last change that worked."""
    changes = [at for at, entry in enumerate(entries) if isinstance(entry, Change) and entry.ok]
    return entries[changes[-1] + 1 :] if changes else entries


def effect_of(entries: Sequence[Entry], setting: str, to: Value, begin: int) -> Effect | None:
    """What came of that change, made at this position of the timeline or later; None where it is not told."""
    for at, entry in enumerate(entries):
        if at >= begin and isinstance(entry, Change) and (entry.setting, entry.to) == (setting, to):
            told = (each for each in entries[at:] if isinstance(each, Effect) and each.change == at)
            return next(told, None)
    return None


def newest_burst(entries: Sequence[Entry]) -> Sample | None:
    """The newest sample with a profile since the last change."""
    samples = [each for each in since_change(entries) if isinstance(each, Sample)]
    return next((each for each in reversed(samples) if each.profile is not None), None)


def standing(entries: Sequence[Entry]) -> Verdict | None:
    """The verdict on the settings in force that a burst under them went into; None where there is none."""
    since = since_change(entries)
    samples = [each for each in since if isinstance(each, Sample)]
    profiled_t = next((each.t for each in samples if each.profile is not None), None)
    told = [each for each in since if isinstance(each, Verdict)]
    if profiled_t is None or not told or told[-1].bottleneck == names.CANNOT_SAY:
        return None
    last, now = told[-1], samples[-1].t
    knew = last.t >= profiled_t or now >= profiled_t + LONG_AGO_S
    return last if knew and now >= last.t + STANDS_S else None


def named(verdict: Verdict) -> list[str]:
    """The bottlenecks that hold, the first first."""
    return [verdict.bottleneck, *(finding.bottleneck for finding in verdict.others)]


def remedy_to(verdict: Verdict, setting: str, to: Value) -> Remedy | None:
    """The remedy that turns this setting so, whichever finding it is of."""
    remedies = [*verdict.remedies, *(each for finding in verdict.others for each in finding.remedies)]
    return next((each for each in remedies if (each.setting, each.to) == (setting, to)), None)


def missed(effect: Effect, tolerance: float) -> str | None:
    """How far what came of a remedy lies from what was predicted, in a line; None within the tolerance.

    Args:
        effect: of a change that was a remedy.
        tolerance: of the predicted ratio.
    """
    if effect.predicted_ratio is None:
        return f"nothing was predicted; measured ×{effect.ratio:.2f}"
    off = effect.ratio / effect.predicted_ratio - 1
    if abs(off) <= tolerance:
        return None
    learnt = "" if effect.learnt is None else f" ({effect.learnt})"
    return f"predicted ×{effect.predicted_ratio:.2f}, measured ×{effect.ratio:.2f}: {off:+.0%}{learnt}"


def span_share(sample: Sample) -> float:
    """The share of a step that lies between its marks on the GPU, copies left out."""
    assert sample.phases is not None and sample.step_ms is not None
    spans = [phase.device_ms for name, phase in sample.phases.items() if name != "h2d"]
    return sum(span for span in spans if span is not None) / sample.step_ms.mean


def of_burst(sample: Sample) -> Profile:
    """The profile that the sample brings."""
    assert sample.profile is not None
    return sample.profile
