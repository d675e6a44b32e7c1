"""What a worker answered, as the result of a point; what is known of a point without asking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from ..ceilings import Ceilings, share_of_ceiling
from ..protocol import StepsTimed
from ..settings import Settings, refusal
from .measuring import Answer
from .plan import Point
from .result import NOISY, Outcome, PointResult, Times, ms_of

Means = dict[str, float]


def without_trying(
    point: Point, capability: str | None, others: Iterable[tuple[Point, PointResult]]
) -> PointResult | None:
    """What is certain of a point: its settings are refused, or it takes more than one that did not fit.

    None where it is to be measured. Batch sizes ascend, so that of each family one point is tried in vain.

    Args:
        point: which.
        capability: its device's CUDA compute capability; None on a CPU.
        others: points of the sweep, and what came of them.
    """
    refused = refusal(point.settings, capability)
    if refused is not None:
        return nothing(point, "failed", refused, rounds=0)
    for other, result in others:
        if result.outcome == "out_of_memory" and point.takes_more_than(other):
            text = f"not tried: {_difference(other.settings, point.settings)} did not fit already"
            return nothing(point, "out_of_memory", text, rounds=0)
    return None


def nothing(point: Point, outcome: Outcome, error: str | None, rounds: int = 1) -> PointResult:
    """A point without figures."""
    return PointResult(
        preset=point.preset,
        settings=point.settings,
        passes=point.settings.passes,
        outcome=outcome,
        error=error,
        runs=0,
        rounds=rounds,
    )


def reckoned(
    point: Point,
    before: PointResult | None,
    answer: Answer,
    means: Means | None,
    ceilings: Ceilings | None,
) -> PointResult:
    """A point after one more round; `before`: after those before, where they went well."""
    timed = answer.timed
    if timed is None or answer.outcome != "ok":
        if before is None:
            return nothing(point, answer.outcome, answer.error)
        # It works, as earlier rounds show: their figures stay.
        error = f"round {before.rounds + 1}: {answer.outcome.replace('_', ' ')}: {answer.error}"
        return structs.replace(before, rounds=before.rounds + 1, error=error)
    old = Times() if before is None else before.times
    times = Times(
        forward=[*old.forward, *_rounded(timed.forward_ms)],
        forward_backward=[*old.forward_backward, *_rounded(timed.forward_backward_ms)],
        step=[*old.step, *_rounded(timed.step_ms)],
    )
    return _with_figures(point, before, timed, times, means, ceilings)


def _with_figures(
    point: Point,
    before: PointResult | None,
    timed: StepsTimed,
    times: Times,
    means: Means | None,
    ceilings: Ceilings | None,
) -> PointResult:
    settings = point.settings
    step = ms_of(times.step)
    asked = ms_of(times.forward_backward if settings.passes == "training" else times.forward)
    assert step is not None and asked is not None  # Two steps are timed at least.
    samples = settings.batch_size * settings.models_at_once
    per_s = samples / step.median * 1e3
    flops = None if timed.flops_per_sample is None else timed.flops_per_sample * per_s
    rounds = 1 if before is None else before.rounds + 1
    peaks = [peak for peak in (timed.peak_memory_bytes, before and before.peak_memory_bytes) if peak]
    return PointResult(
        preset=point.preset,
        settings=settings,
        passes=settings.passes,
        outcome="ok",
        error=None if before is None else before.error,
        runs=len(times.step),
        rounds=rounds,
        ms=asked,
        forward_ms=ms_of(times.forward),
        forward_backward_ms=ms_of(times.forward_backward),
        step_ms=step,
        samples_per_s=per_s,
        ms_per_sample=step.median / samples,
        peak_memory_bytes=max(peaks, default=None),
        flops_per_s=flops,
        share_of_ceiling=share_of_ceiling(flops, settings.precision, ceilings),
        ceiling_noisy=ceilings is not None and ceilings.noisy,
        noisy=asked.iqr > NOISY * asked.median,
        telemetry=_joined(None if before is None else before.telemetry, means, rounds),
        actual=timed.settings,
        flags=timed.flags,
        times=times,
    )


def _joined(old: Means | None, new: Means | None, rounds: int) -> Means | None:
    """The means over all rounds; what is known of the last one or of those before alone stands for all."""
    if old is None or new is None:
        return old if new is None else new
    both = {name: (old[name] * (rounds - 1) + new[name]) / rounds for name in old.keys() & new.keys()}
    return {**old, **new, **both}


def _difference(smaller: Settings, larger: Settings) -> str:
    """What of the smaller one is smaller: `batch 64`, `forward`."""
    told = []
    if smaller.batch_size != larger.batch_size:
        told.append(f"batch {smaller.batch_size:,}")
    if smaller.models_at_once != larger.models_at_once:
        told.append(f"{smaller.models_at_once} models at once")
    if smaller.passes != larger.passes:
        told.append(f"passes {smaller.passes}")
    return ", ".join(told)


def _rounded(times_ms: Sequence[float]) -> list[float]:
    """To a tenth of a microsecond: the clock knows no more."""
    return [round(ms, 4) for ms in times_ms]
