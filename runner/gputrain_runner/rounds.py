"""The diagnosis acted upon without anybody: measure, take the best remedy, keep what helps, go on.

Each remedy is tried as A/B/A: with it and without it, before and after, so that a drift of the machine is
not mistaken for a gain.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct

from .diagnosis import findings_of
from .diagnosis.rules import names
from .feed import Refused
from .settings import Settings, Value
from .steering import SAMPLES, Steering, rate_of
from .timeline import Entry, Rate, Remedy, Verdict

LEAST = 1.03
"""No remedy that predicts less is tried, and none that gives less is kept."""
PATIENCE_S = 20.0
"""How long to wait for a verdict under settings in force."""
PROBE_S = 60.0
"""How long to wait for a probe."""
UNASKED = frozenset({"batch_size", "model_size", "precision", "device"})
"""What changes the training, or where it runs: only turned where it was allowed by name."""

Outcome = Literal["kept", "no gain", "refused"]


class Trial(Struct, frozen=True, kw_only=True):
    """One remedy tried."""

    bottleneck: str
    sentence: str
    setting: str
    from_: Value
    to: Value
    predicted_ratio: float
    predicted_low: float | None
    predicted_high: float | None
    before: Rate | None
    """Without it: the quartiles of both times together."""
    after: Rate | None
    ratio: float | None
    drift: float | None
    """The rate without it the second time over the first time; null where it could not be tried."""
    outcome: Outcome
    error: str | None = None


class Rounds(Struct, frozen=True, kw_only=True):
    """What came of all of them."""

    first: Rate
    last: Rate
    ratio: float
    settings_first: Settings
    settings_last: Settings
    trials: list[Trial]
    limits_now: str
    """What limits it at the end, in a sentence."""
    limit_ratio: float | None
    advice: list[str]
    """What no setting can do but might help."""
    left_alone: list[Remedy] = []
    """What would help too but changes the training, and was not allowed."""
    seconds: float


class Diagnosing:
    """The rounds on one steered session, whose verdicts it is told through `take`."""

    def __init__(
        self,
        allowed: Sequence[str] = (),
        without: Sequence[str] = (),
        seconds: float = 150.0,
        tell: Callable[[str], None] = lambda _line: None,
        told: Callable[[Trial], None] = lambda _trial: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare them.

        Args:
            allowed: settings beyond those that keep the training's meaning.
            without: settings that are left alone.
            seconds: no new trial begins after so long.
            tell: is given what happens, a line at a time.
            told: is given each trial.
            clock: seconds.
        """
        self._left_alone = (UNASKED - set(allowed)) | set(without)
        self._seconds = seconds
        self._tell = tell
        self._told = told
        self._clock = clock
        self._verdict: Verdict | None = None
        self._verdict_settings: Settings | None = None
        self._steering: Steering | None = None

    def take(self, _first: int, entries: Sequence[Entry]) -> None:
        """What is new in the timeline: the verdicts in it."""
        for entry in entries:
            if isinstance(entry, Verdict):
                self._verdict = entry
                self._verdict_settings = None if self._steering is None else self._steering.settings

    def run(self, steering: Steering) -> Rounds:
        """All rounds, to the end.

        Raises:
            MeasureError: training failed.
            KeyboardInterrupt: it was interrupted.
        """
        self._steering = steering
        began = self._clock()
        steering.wait_until_training()
        self._probe(steering)
        first = rate_of(steering.measure(2 * SAMPLES))
        settings_first = steering.settings
        trials: list[Trial] = []
        tried = {settings_first}
        verdict = self._await_verdict(steering)
        while self._clock() - began < self._seconds:
            chosen = self._choose(verdict, steering.settings, tried)
            if chosen is None:
                break
            trial = self._try(steering, verdict, chosen)
            tried.add(settings_first if trial.outcome == "kept" else self._with(steering.settings, chosen))
            trials.append(trial)
            self._told(trial)
            verdict = self._await_verdict(steering)
        last = rate_of(steering.measure(2 * SAMPLES)) if trials else first
        verdict = self._verdict
        return Rounds(
            first=first,
            last=last,
            ratio=last.samples_per_s / first.samples_per_s,
            settings_first=settings_first,
            settings_last=steering.settings,
            trials=trials,
            limits_now="" if verdict is None else verdict.sentence,
            limit_ratio=None if verdict is None else verdict.limit_ratio,
            advice=_advice(verdict),
            left_alone=self._not_allowed(verdict),
            seconds=self._clock() - began,
        )

    def _probe(self, steering: Steering) -> None:
        """Measure what the device can do at most, where that is not known: predictions stand on it."""
        session = steering.session
        device = steering.settings.device
        if device in (session.header.probe or {}):
            return
        self._tell("measuring what this machine can do at most; training waits some seconds")
        try:
            session.probe()
        except Refused:
            return
        until = self._clock() + PROBE_S
        while device not in (session.header.probe or {}) and self._clock() < until:
            steering.let_run(0.25)

    def _choose(self, verdict: Verdict | None, now: Settings, tried: set[Settings]) -> Remedy | None:
        """The remedy that promises most among those that may be taken; more models at once come last."""
        if verdict is None:
            return None
        open_ = [
            remedy
            for finding in findings_of(verdict)
            for remedy in finding.remedies
            if remedy.setting is not None
            and remedy.setting not in self._left_alone
            and (remedy.predicted_ratio or 0.0) > LEAST
            and self._with(now, remedy) not in tried
        ]
        # What makes this very training faster comes before what trains more of them at once.
        return max(
            open_, key=lambda r: (r.setting != "models_at_once", r.predicted_ratio or 0.0), default=None
        )

    def _not_allowed(self, verdict: Verdict | None) -> list[Remedy]:
        """The remedies of a verdict that were not to be taken, each setting's once."""
        if verdict is None:
            return []
        found: dict[str, Remedy] = {}
        for finding in findings_of(verdict):
            for remedy in finding.remedies:
                if remedy.setting in self._left_alone and (remedy.predicted_ratio or 0.0) > LEAST:
                    found.setdefault(str(remedy.setting), remedy)
        return list(found.values())

    def _try(self, steering: Steering, verdict: Verdict | None, remedy: Remedy) -> Trial:
        """A/B/A; the session is left with the remedy where it helped, else without."""
        assert remedy.setting is not None and verdict is not None
        name, before_value = remedy.setting, steering.settings.value(remedy.setting)
        self._tell(f"trying {name} {before_value} → {remedy.to}: predicts ×{remedy.predicted_ratio:.2f}")
        a1 = steering.measure()
        error = steering.turn({name: remedy.to})
        if error is not None:
            return _trial(verdict, remedy, before_value, "refused", error=error)
        b = steering.measure()
        error = steering.turn({name: before_value})
        if error is not None:
            return _trial(verdict, remedy, before_value, "kept", error=f"the way back failed: {error}")
        a2 = steering.measure()
        rates = [rate_of(samples) for samples in (a1, b, a2)]
        before = math.sqrt(rates[0].samples_per_s * rates[2].samples_per_s)
        ratio = rates[1].samples_per_s / before
        drift = rates[2].samples_per_s / rates[0].samples_per_s
        # A gain no larger than what the machine drifted meanwhile is none.
        helped = ratio > LEAST and rates[1].samples_per_s > max(r.samples_per_s for r in (rates[0], rates[2]))
        if helped:
            steering.turn({name: remedy.to})
        return _trial(
            verdict,
            remedy,
            before_value,
            "kept" if helped else "no gain",
            before=rate_of([*a1, *a2]),
            after=rates[1],
            ratio=ratio,
            drift=drift,
        )

    def _await_verdict(self, steering: Steering) -> Verdict | None:
        """The verdict under the settings in force; the newest there is where none comes."""
        until = self._clock() + PATIENCE_S
        while self._clock() < until:
            standing = self._verdict
            current = standing is not None and self._verdict_settings == steering.settings
            if current and standing is not None and standing.bottleneck != names.CANNOT_SAY:
                return standing
            steering.let_run(0.25)
        return self._verdict if self._verdict_settings == steering.settings else None

    @staticmethod
    def _with(now: Settings, remedy: Remedy) -> Settings:
        assert remedy.setting is not None
        return now.with_value(remedy.setting, remedy.to)


def _trial(
    verdict: Verdict,
    remedy: Remedy,
    before_value: Value,
    outcome: Outcome,
    *,
    error: str | None = None,
    before: Rate | None = None,
    after: Rate | None = None,
    ratio: float | None = None,
    drift: float | None = None,
) -> Trial:
    finding = next((one for one in findings_of(verdict) if remedy in one.remedies), findings_of(verdict)[0])
    assert remedy.setting is not None and remedy.predicted_ratio is not None
    return Trial(
        bottleneck=finding.bottleneck,
        sentence=finding.sentence,
        setting=remedy.setting,
        from_=before_value,
        to=remedy.to,
        predicted_ratio=remedy.predicted_ratio,
        predicted_low=remedy.predicted_low,
        predicted_high=remedy.predicted_high,
        before=before,
        after=after,
        ratio=ratio,
        drift=drift,
        outcome=outcome,
        error=error,
    )


def _advice(verdict: Verdict | None) -> list[str]:
    if verdict is None:
        return []
    found = [
        remedy.why
        for finding in findings_of(verdict)
        for remedy in finding.remedies
        if remedy.setting is None
    ]
    return list(dict.fromkeys(found))[:3]
