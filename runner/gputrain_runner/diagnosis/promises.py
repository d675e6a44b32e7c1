"""Predicted against measured: what a remedy promised, what came of it, and what is learnt where it missed."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from ..timeline import Effect, Remedy
from . import words
from .inputs import Inputs
from .step_model import step_model

SAME = 0.10
"""A part of the step that changed by less took as long as before."""
MOST_PROMISES = 16


@dataclass(frozen=True, slots=True)
class Promise:
    """A remedy that was applied, and the window that it was proposed from."""

    remedy: Remedy
    before: Inputs


class Promises:
    """Remembers the remedies that were applied, by their change's position in the timeline."""

    def __init__(self) -> None:
        self._made: dict[int, Promise] = {}

    def make(self, position: int, promise: Promise) -> None:
        """The change at this position is a remedy's."""
        self._made[position] = promise
        while len(self._made) > MOST_PROMISES:
            del self._made[next(iter(self._made))]

    def kept(self, effect: Effect, after: Inputs | None) -> Effect:
        """The effect with its prediction beside it, where its change was a remedy and stands alone."""
        promise = self._made.pop(effect.change, None)
        if promise is None or effect.since is not None or promise.remedy.predicted_ratio is None:
            return effect
        remedy = promise.remedy
        learnt = None if _hit(effect, remedy) else learn(effect, remedy, promise.before, after)
        return structs.replace(effect, predicted_ratio=remedy.predicted_ratio, learnt=learnt)


def _hit(effect: Effect, remedy: Remedy) -> bool:
    """Whether the measured range and the predicted one have anything in common."""
    likely = remedy.predicted_ratio or 1.0
    low = likely if remedy.predicted_low is None else remedy.predicted_low
    high = likely if remedy.predicted_high is None else remedy.predicted_high
    return effect.ratio_high >= low and effect.ratio_low <= high


def learn(effect: Effect, remedy: Remedy, before: Inputs, after: Inputs | None) -> str:
    """Why a prediction missed, from what the step's parts did."""
    less = effect.ratio < (remedy.predicted_ratio or 1.0)
    start = f"{'less' if less else 'more'} than predicted"
    if after is None or after.step is None or before.step is None:
        return f"{start}; too short to tell why"
    reasons = _PARTICULAR.get(remedy.setting or "", _of_phases)(before, after, less)
    return f"{start}: {reasons or _of_phases(before, after, less)}"


def _of_data(before: Inputs, after: Inputs, less: bool) -> str:
    waits_before, waits_after = (step_model(one).waits_ms for one in (before, after))
    rest_before, rest_after = before.step_ms - waits_before, after.step_ms - waits_after
    if less and waits_after > (1 - SAME) * waits_before:
        return (
            f"waiting for the batch took {words.ms(waits_after)} as before ({words.ms(waits_before)}): it "
            "was "
            "overlapped already, or the data themselves are slow to come"
        )
    if less and rest_after > (1 + SAME) * rest_before:
        return (
            f"the wait fell from {words.ms(waits_before)} to {words.ms(waits_after)}, but the rest of the "
            "step "
            f"grew from {words.ms(rest_before)} to {words.ms(rest_after)}: it had been overlapped"
        )
    return ""


def _of_execution(before: Inputs, after: Inputs, less: bool) -> str:
    then, now = step_model(before), step_model(after)
    if then.work_ms is None or now.work_ms is None:
        return ""
    what = "operations" if before.on_cpu else "kernels"
    if less and now.work_ms > (1 - SAME) * then.work_ms:
        return f"the {what} took {words.ms(now.work_ms)}, as before ({words.ms(then.work_ms)})"
    if less and now.starting_ms > 0.5 * then.starting_ms:
        return f"starting them still takes {words.ms(now.starting_ms)} of {words.ms(then.starting_ms)}"
    if not less and now.work_ms < (1 - SAME) * then.work_ms:
        return f"the {what} themselves became faster, {words.ms(then.work_ms)} → {words.ms(now.work_ms)}"
    return ""


def _of_kinds(before: Inputs, after: Inputs, less: bool) -> str:
    """The kind of work that differs most from what it was."""
    then, now = before.profile, after.profile
    if then is None or now is None:
        return ""
    kinds = [name for name in then.work if name in now.work]
    if not kinds:
        return ""
    if less:
        name = max(kinds, key=lambda kind: now.work[kind].ms)
        verb = "took" if now.work[name].ms < (1 - SAME) * then.work[name].ms else "still took"
    else:
        name, verb = max(kinds, key=lambda kind: then.work[kind].ms - now.work[kind].ms), "took only"
    return f"{name} {verb} {words.ms(now.work[name].ms)}, {words.ms(then.work[name].ms)} before"


def _of_phases(before: Inputs, after: Inputs, less: bool) -> str:
    """The phase that took most beyond what its share of the samples explains."""
    assert before.step is not None and after.step is not None
    work = after.settings.batch_size * after.settings.models_at_once
    work_before = before.settings.batch_size * before.settings.models_at_once
    grew = work / work_before
    phases = [name for name in before.step.host_ms if name in after.step.host_ms]
    if not phases:
        return f"a step takes {words.ms(after.step_ms)}, {words.ms(before.step_ms)} before"
    name = max(phases, key=lambda phase: after.step.host_ms[phase])  # type: ignore[union-attr]
    then, now = before.step.host_ms[name], after.step.host_ms[name]
    per = f" for ×{words.significant(grew)} the samples" if grew != 1 else ""
    return f"{name} took {words.ms(now)}{per}, {words.ms(then)} before"


_PARTICULAR = {
    "data_path": _of_data,
    "workers": _of_data,
    "execution": _of_execution,
    "recurrence": _of_execution,
    "precision": _of_kinds,
    "memory_format": _of_kinds,
}
"""By the setting of the remedy; each answers "" where it has nothing to say."""
