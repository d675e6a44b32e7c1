"""The diagnosis of a session as it goes: follows its timeline, and says when there is a new verdict.

Judged once a second of the session's time. A verdict does not flicker: another takes its place only after
it has held for some seconds, or where it clearly saves more.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..timeline import Change, Effect, Entry, Header, Message, Remedy, Sample, Verdict
from .engine import Diagnosis, findings_of, judge, saved_ms, verdict
from .gather import Gather
from .inputs import Inputs
from .promises import Promise, Promises
from .rules import names

EVERY_S = 1.0
"""How often a window is judged."""
HOLDS_S = 4.0
"""How long another bottleneck must be the first before it is told."""
CLEARLY = 1.5
"""By what factor it must save more to be told at once; and by a twentieth of the step."""
APART_S = 3.0
"""Between two verdicts, but for the one after a change of settings."""
MOVED_STEP, MOVED_SLICE, MOVED_RATIO = 0.15, 0.10, 0.20
"""What is told anew under the same name: by how much the step, the slice (of the step) or the first remedy's
gain has moved."""


class DiagnosisWatch:
    """Follows a timeline like `EffectWatch`: entries come in order, verdicts go back to whoever enters them.

    Args:
        header: the session's, as far as it is known now.
    """

    def __init__(self, header: Callable[[], Header]) -> None:
        self._gather = Gather(header)
        self._promises = Promises()
        self._standing: Verdict | None = None
        self._inputs: Inputs | None = None
        """What the standing verdict, or a later judgement of the same, was made from."""
        self._rival: tuple[str, float] | None = None
        """Another bottleneck that is the first now, and since when."""
        self._judged_t = float("-inf")
        self._changed = False
        """Whether the settings have changed since the standing verdict."""
        self._broken = False

    @property
    def standing(self) -> Verdict | None:
        """The verdict told last."""
        return self._standing

    def feed(self, position: int, entry: Entry) -> Verdict | Message | None:
        """Take the entry at this position; a verdict where there is a new one to tell.

        An error in here costs the session its diagnosis, told in a message, and nothing else.
        """
        if self._broken:
            return None
        try:
            return self._feed(position, entry)
        except Exception as error:
            self._broken = True
            text = f"the diagnosis has failed and is off from now on ({type(error).__name__}: {error})"
            return Message(t=entry.t, level="error", text=text)

    def complete(self, effect: Effect) -> Effect:
        """The effect with what was predicted of it, where its change was a remedy; before it is fed."""
        if self._broken:
            return effect
        return self._promises.kept(effect, self._gather.inputs())

    def reset(self) -> None:
        """The worker has gone: what comes next begins anew."""
        self._gather.begin_window()
        self._changed = True
        self._rival = None

    def _feed(self, position: int, entry: Entry) -> Verdict | None:
        if isinstance(entry, Change) and entry.ok:
            self._note_change(position, entry)
        self._gather.take(entry)
        if not isinstance(entry, Sample) or entry.t - self._judged_t < EVERY_S:
            return None
        self._judged_t = entry.t
        inputs = self._gather.inputs()
        return None if inputs is None else self._consider(judge(inputs), inputs, entry.t)

    def _note_change(self, position: int, change: Change) -> None:
        remedy = _remedy_of(self._standing, change)
        if remedy is not None and self._inputs is not None and not self._changed:
            self._promises.make(position, Promise(remedy, self._inputs))
        self._changed = True
        self._rival = None
        self._judged_t = float("-inf")

    def _consider(self, diagnosis: Diagnosis, inputs: Inputs, t: float) -> Verdict | None:
        """Tell the new verdict or keep the standing one."""
        new, standing = verdict(diagnosis, t), self._standing
        if standing is not None and not self._is_due(new, standing, diagnosis):
            if new.bottleneck == standing.bottleneck and diagnosis.reason is None:
                self._inputs = inputs
            return None
        self._standing, self._inputs = new, inputs
        self._changed, self._rival = False, None
        return new

    def _is_due(self, new: Verdict, standing: Verdict, diagnosis: Diagnosis) -> bool:
        if self._changed or (standing.bottleneck == names.CANNOT_SAY and diagnosis.reason is None):
            return True
        if new.t - standing.t < APART_S:
            return False
        if new.bottleneck == standing.bottleneck:
            self._rival = None
            return _has_moved(new, standing)
        if self._rival is None or self._rival[0] != new.bottleneck:
            self._rival = (new.bottleneck, new.t)
        if new.t - self._rival[1] >= HOLDS_S:
            return True
        return new.bottleneck != names.CANNOT_SAY and _clearly_wins(standing.bottleneck, diagnosis)


def _remedy_of(standing: Verdict | None, change: Change) -> Remedy | None:
    """The remedy that a change applies."""
    if standing is None:
        return None
    remedies = [remedy for finding in findings_of(standing) for remedy in finding.remedies]
    return next((one for one in remedies if (one.setting, one.to) == (change.setting, change.to)), None)


def _clearly_wins(standing: str, diagnosis: Diagnosis) -> bool:
    step_ms = diagnosis.step_ms or 0.0
    now = next((one for one in diagnosis.findings if one.bottleneck == standing), None)
    before_ms = 0.0 if now is None else saved_ms(now, step_ms)
    return saved_ms(diagnosis.findings[0], step_ms) > CLEARLY * before_ms + 0.05 * step_ms


def _has_moved(new: Verdict, standing: Verdict) -> bool:
    if new.bottleneck == names.CANNOT_SAY:
        return re.sub(r"[\d.,]+", "", new.sentence) != re.sub(r"[\d.,]+", "", standing.sentence)
    step_ms, before_ms = new.step_ms or 0.0, standing.step_ms or 0.0
    if abs(step_ms - before_ms) > MOVED_STEP * max(before_ms, 1e-9):
        return True
    shares = [(one.slice_ms or 0.0) / max(one.step_ms or 0.0, 1e-9) for one in (new, standing)]
    if abs(shares[0] - shares[1]) > MOVED_SLICE:
        return True
    return _first_remedy_moved(new.remedies, standing.remedies)


def _first_remedy_moved(new: list[Remedy], before: list[Remedy]) -> bool:
    if not new or not before:
        return bool(new) != bool(before)
    if (new[0].setting, new[0].to) != (before[0].setting, before[0].to):
        return True
    ratio, was = new[0].predicted_ratio, before[0].predicted_ratio
    if ratio is None or was is None:
        return (ratio is None) != (was is None)
    return abs(ratio - was) > MOVED_RATIO * was
