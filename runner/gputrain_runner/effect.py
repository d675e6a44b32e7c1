"""What a change did: the rate after it over the rate before it, from steady samples alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .settings import RULES
from .timeline import Change, Effect, Entry, Message, Rate, Sample

AFTER_S = 2.0
AFTER_SAMPLES = 6
"""An effect is told once this much time and this many steady samples lie behind the change."""
BEFORE_S = 10.0
BEFORE_SAMPLES = 40
"""At most this much of what was before the change is compared with."""
FEWEST_SAMPLES = 2
"""Less than this on one side is no rate."""


@dataclass(frozen=True, slots=True)
class _Steady:
    t: float
    samples_per_s: float


@dataclass(frozen=True, slots=True)
class _Pending:
    """A change, or a quick chain of them, whose effect is not told yet."""

    first: int
    last: int
    """Positions of the chain's first and last change."""
    what: str
    """The changes in words."""
    before: tuple[_Steady, ...]


class EffectWatch:
    """Follows a timeline and tells the effect of each change that worked.

    `before` is the newest steady samples since the change before; `after` the steady ones since the
    change. A change that follows before there is a rate to be told (a key pressed three times) makes a
    chain: the effect is that of the whole chain, told at its last change, against what was before its
    first. A change that failed neither starts an effect nor ends one.
    """

    def __init__(self) -> None:
        self._steady: list[_Steady] = []
        """Steady samples since the last change that worked, or since the start."""
        self._pending: _Pending | None = None
        self._t = 0.0
        """When the newest entry was."""

    def feed(self, position: int, entry: Entry) -> Effect | Message | None:
        """Take the entry at this position of the timeline; entries come in order.

        Returns an effect when there is one to tell. It is a message where a change cannot be compared:
        a following change or too little time before it left no rate on one side.
        """
        self._t = max(self._t, entry.t)
        if isinstance(entry, Change) and entry.ok:
            return self._feed_change(position, entry)
        if isinstance(entry, Sample) and entry.steady and entry.samples_per_s:
            return self._feed_sample(_Steady(entry.t, entry.samples_per_s))
        return None

    def flush(self) -> Effect | Message | None:
        """Tell the pending effect with what there is: at the end, or where the worker has gone."""
        pending, self._pending = self._pending, None
        if pending is None:
            return None
        if min(len(pending.before), len(self._steady)) < FEWEST_SAMPLES:
            when = "before" if len(pending.before) < FEWEST_SAMPLES else "after"
            text = f"too short to tell what {pending.what} did: no steady rate {when} it"
            return Message(t=self._t, level="info", text=text, change=pending.last)
        return _effect(pending, self._steady)

    def reset(self) -> None:
        """Forget everything: what comes next is not to be compared with what was."""
        self._steady = []
        self._pending = None

    def _feed_change(self, position: int, change: Change) -> Effect | Message | None:
        told = None
        pending = self._pending
        what = _in_words(change)
        if pending is not None and len(self._steady) < FEWEST_SAMPLES:
            what = f"{pending.what}, {what}"
            self._pending = _Pending(pending.first, position, what, pending.before)
        else:
            told = self.flush()
            self._pending = _Pending(position, position, what, tuple(_newest(self._steady)))
        self._steady = []
        return told

    def _feed_sample(self, sample: _Steady) -> Effect | Message | None:
        self._steady.append(sample)
        if self._pending is None:
            self._steady = _newest(self._steady)
        elif len(self._steady) >= AFTER_SAMPLES and _span_s(self._steady) >= AFTER_S:
            return self.flush()
        return None


def _newest(samples: Sequence[_Steady]) -> list[_Steady]:
    """The newest samples to compare with; slow steps, few samples a minute, are let reach further back."""
    newest = samples[-1].t if samples else 0.0
    recent = sum(newest - sample.t <= BEFORE_S for sample in samples[-BEFORE_SAMPLES:])
    return list(samples[-max(recent, AFTER_SAMPLES) :])


def _span_s(samples: Sequence[_Steady]) -> float:
    """The time the samples cover; each stands for the interval that ends with it."""
    return (samples[-1].t - samples[0].t) * len(samples) / (len(samples) - 1)


def _effect(pending: _Pending, after: Sequence[_Steady]) -> Effect:
    before_rate, after_rate = _rate(pending.before), _rate(after)
    return Effect(
        t=after[-1].t,
        change=pending.last,
        since=pending.first if pending.first != pending.last else None,
        before=before_rate,
        after=after_rate,
        ratio=after_rate.samples_per_s / before_rate.samples_per_s,
        ratio_low=after_rate.q25 / before_rate.q75,
        ratio_high=after_rate.q75 / before_rate.q25,
    )


def _rate(samples: Sequence[_Steady]) -> Rate:
    rates = [sample.samples_per_s for sample in samples]
    q25, median, q75 = statistics.quantiles(rates, n=4, method="inclusive")
    return Rate(samples_per_s=median, q25=q25, q75=q75, samples=len(rates))


def _in_words(change: Change) -> str:
    rule = RULES.get(change.setting)
    return f"{rule.label if rule else change.setting} {change.from_} → {change.to}"
