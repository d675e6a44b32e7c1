"""What a rule is: a name, what it looks for, and which other rules it explains."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...timeline import Finding, Remedy
from ..inputs import Inputs
from ..remedies import ordered
from ..step_model import StepModel

Holds = Callable[[Inputs, StepModel], Finding | None]
"""Looks at a window; None where the rule does not hold, or where what it needs is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One bottleneck that can be told.

    Attributes:
        name: as in `Verdict.bottleneck`.
        holds: the judgement.
        explains: more general rules whose slice this one accounts for: where both hold, it is taken out
            of theirs.
        healthy: whether it names what is as it should be: then it is the verdict only where nothing else is.
        foremost: whether it comes before all others where it holds, though no figure can be given.
    """

    name: str
    holds: Holds
    explains: tuple[str, ...] = ()
    healthy: bool = False
    foremost: bool = False


def finding(
    name: str,
    sentence: str,
    evidence: Iterable[str | None],
    remedies: Iterable[Remedy | None],
    slice_ms: float | None,
    step_ms: float,
) -> Finding:
    """A finding with its remedies in order and what removing its slice would give at most (Amdahl)."""
    kept_ms = None if slice_ms is None else max(1e-6, step_ms - min(slice_ms, step_ms))
    return Finding(
        bottleneck=name,
        sentence=sentence,
        evidence=[text for text in evidence if text is not None],
        remedies=ordered(remedies),
        slice_ms=slice_ms,
        limit_ratio=None if kept_ms is None else min(step_ms / kept_ms, 1e3),
    )
