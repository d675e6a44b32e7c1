"""From inputs to findings, ranked by what they would save, and to a verdict or the reason for none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import structs

from ..timeline import Finding, Remedy, Verdict
from . import words
from .inputs import Inputs
from .other_cards import other_cards
from .rules import BY_NAME, RULES, names
from .step_model import StepModel, step_model

FEWEST_STEPS = 20
FEWEST_SLOW_STEPS = 4
"""Where a step takes longer than `SLOW_STEP_MS`."""
SLOW_STEP_MS = 250.0
FEWEST_SECONDS = 1.5
NOISE = 0.10
"""Interquartile range over median of the rate, beyond which only what saves more than that is told."""
ADVICE_GETS = 0.5
"""Of a slice, what is counted as saved where no figure can be given."""
LEAST_SLICE = 0.02
"""Of a step: what is left of a slice that another finding explains, to be worth telling."""
WORTH_A_VERDICT = 0.03
"""Of a step: what saves less is told, but is not what limits."""
BEFORE_PROFILE_S = 8.0
"""How long to wait for the first burst before judging by what there is."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a window shows.

    Attributes:
        findings: what holds, the most saving first.
        reason: why nothing can be said yet; None where something can. Findings may be there all the same.
        step_ms: the step they are about; None without a window.
        cards: what other cards would give.
    """

    findings: tuple[Finding, ...]
    reason: str | None
    step_ms: float | None
    cards: tuple[Remedy, ...] = ()


def diagnose(inputs: Inputs) -> list[Finding]:
    """All findings that hold, the most saving first; empty where there is no window yet."""
    if inputs.step is None:
        return []
    model = step_model(inputs)
    found = {rule.name: one for rule in RULES if (one := rule.holds(inputs, model)) is not None}
    left = [one for name in found if (one := _without_explained(found, name, model)) is not None]
    return sorted(left, key=lambda one: _rank(one, model.step_ms))


def judge(inputs: Inputs) -> Diagnosis:
    """The findings, and whether they are to be told yet."""
    findings = tuple(diagnose(inputs))
    step_ms = None if inputs.step is None else inputs.step.step_ms
    reason = _too_early(inputs, findings)
    return Diagnosis(findings, reason, step_ms, () if reason else tuple(other_cards(inputs)))


def verdict(diagnosis: Diagnosis, t: float) -> Verdict:
    """As an entry of the timeline, at the session's second `t`."""
    if diagnosis.reason is not None:
        return Verdict(
            t=t,
            bottleneck=names.CANNOT_SAY,
            sentence=f"Cannot say yet: {diagnosis.reason}.",
            evidence=[],
            remedies=[],
            step_ms=diagnosis.step_ms,
            others=list(diagnosis.findings),
        )
    first, *others = diagnosis.findings
    return Verdict(
        t=t,
        bottleneck=first.bottleneck,
        sentence=first.sentence,
        evidence=first.evidence,
        remedies=first.remedies,
        slice_ms=first.slice_ms,
        limit_ratio=first.limit_ratio,
        step_ms=diagnosis.step_ms,
        others=others,
        cards=list(diagnosis.cards),
    )


def findings_of(verdict: Verdict) -> list[Finding]:
    """A verdict's findings in their order; the first is its own, where it has one."""
    if verdict.bottleneck == names.CANNOT_SAY:
        return list(verdict.others)
    own = Finding(
        bottleneck=verdict.bottleneck,
        sentence=verdict.sentence,
        evidence=verdict.evidence,
        remedies=verdict.remedies,
        slice_ms=verdict.slice_ms,
        limit_ratio=verdict.limit_ratio,
    )
    return [own, *verdict.others]


def saved_ms(finding: Finding, step_ms: float) -> float:
    """What the finding is predicted to save of a step: by its best remedy, at most its slice."""
    if BY_NAME[finding.bottleneck].healthy:
        return 0.0
    ratios = [remedy.predicted_ratio for remedy in finding.remedies if remedy.predicted_ratio is not None]
    slice_ms = finding.slice_ms
    if not ratios:
        return 0.0 if slice_ms is None else ADVICE_GETS * slice_ms
    best_ms = step_ms * (1 - 1 / max(1.0, *ratios))
    return best_ms if slice_ms is None else min(best_ms, slice_ms)


def _rank(finding: Finding, step_ms: float) -> tuple[int, float, float]:
    rule, saved = BY_NAME[finding.bottleneck], saved_ms(finding, step_ms)
    limits = saved >= WORTH_A_VERDICT * step_ms
    group = 0 if rule.foremost else 1 if limits else 2 if rule.healthy else 3
    return group, -saved, -(finding.slice_ms or 0.0)


def _without_explained(found: dict[str, Finding], name: str, model: StepModel) -> Finding | None:
    """A finding without the part of its slice that more particular ones account for."""
    finding = found[name]
    by = [other for other in found.values() if name in BY_NAME[other.bottleneck].explains]
    if not by or finding.slice_ms is None:
        return finding
    left_ms = finding.slice_ms - sum(other.slice_ms or 0.0 for other in by)
    if left_ms < LEAST_SLICE * model.step_ms:
        return None
    kept_ms = max(1e-6, model.step_ms - left_ms)
    return structs.replace(finding, slice_ms=left_ms, limit_ratio=model.step_ms / kept_ms)


def _too_early(inputs: Inputs, findings: Sequence[Finding]) -> str | None:
    """Why a verdict would be a guess; None where it would not."""
    step = inputs.step
    if inputs.settling is not None or step is None:
        return inputs.settling or "no steps have been timed yet"
    fewest = FEWEST_SLOW_STEPS if step.step_ms > SLOW_STEP_MS else FEWEST_STEPS
    if step.steps < fewest or step.seconds < FEWEST_SECONDS:
        return f"steady for {step.seconds:.1f} s and {step.steps:,} steps so far"
    if inputs.profile is None and step.seconds < BEFORE_PROFILE_S:
        return "what really runs in a step is being measured"
    best_ms = max((saved_ms(one, step.step_ms) for one in findings), default=0.0)
    spread = step.spread or 0.0
    if spread > max(NOISE, best_ms / step.step_ms):
        busy = inputs.foreign_cores or 0.0
        others = f"; other programs use {words.cores(busy)}" if busy > 0.3 else ""
        return f"the rate varies by {words.percent(spread)}, more than any finding would change it{others}"
    if not findings:
        if inputs.profile is None:
            return "nothing stands out, and what really runs in a step is not known here (no profile)"
        return "no part of the step is large enough to be named as what limits it"
    return None
