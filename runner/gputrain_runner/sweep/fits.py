"""The lines t(b) = a + c*b through a sweep's points, and what they say of batch sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ..settings import Settings
from ..step_fit import fit
from .result import Fit, PointResult

FEWEST = 3
"""Through two points every line fits."""
NEARLY_BEST = 0.9
"""The curve has bent where this share of the best samples/s is reached."""


def fits_of(points: Sequence[PointResult]) -> list[Fit]:
    """The lines through every family of three batch sizes or more."""
    families: dict[tuple[object, ...], list[PointResult]] = {}
    for point in points:
        if point.outcome == "ok" and point.ms is not None:
            families.setdefault(family_of(point), []).append(point)
    return [made for family in families.values() if (made := _fit(family)) is not None]


def family_of(point: PointResult | Fit) -> tuple[object, ...]:
    """What points have in common that differ in nothing but their batch size."""
    settings = point.settings
    return point.preset, *(
        settings.value(name) for name in Settings.__struct_fields__ if name != "batch_size"
    )


def _fit(family: Sequence[PointResult]) -> Fit | None:
    ordered = sorted(family, key=lambda point: point.settings.batch_size)
    batches = [point.settings.batch_size for point in ordered]
    times = [point.ms.median for point in ordered if point.ms is not None]
    line = fit(batches, times) if len(batches) >= FEWEST else None
    if line is None:
        return None
    rates = [batch / ms for batch, ms in zip(batches, times, strict=True)]
    best = max(rates)
    out = line.standing_out
    return Fit(
        preset=ordered[0].preset,
        settings=ordered[0].settings,
        passes=ordered[0].passes,
        a_ms=line.a_ms,
        c_ms=line.c_ms,
        half=line.half,
        batch_sizes=batches,
        ms=times,
        residuals=line.residuals,
        best=batches[rates.index(best)],
        worse_than_fit=[batches[at] for at in out if line.residuals[at] > 0],
        better_than_fit=[batches[at] for at in out if line.residuals[at] < 0],
        bend=next(b for b, rate in zip(batches, rates, strict=True) if rate >= NEARLY_BEST * best),
    )
