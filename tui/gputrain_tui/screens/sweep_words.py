"""What a sweep's screen says in words: of the marked point, of its curve, of the curves' marks."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.sweep.fits import family_of
from gputrain_runner.sweep.result import PointResult

from .. import format, sweep_text
from ..sweep_matrix import Curve
from ..widgets.batch_chart import mark_of
from ..widgets.text import Line, Run


def about_point(result: PointResult, curves: Sequence[Curve]) -> list[str]:
    """All about one point, and what the line through its curve says."""
    name = sweep_text.label(result)
    if result.ms is None or result.step_ms is None:
        return [f"{name}: {sweep_text.MISSING[result.outcome]}: {result.error}"]
    figures = [
        f"{name}: {sweep_text.ms_text(result.ms)} ms",
        f"IQR {result.ms.iqr / result.ms.median * 100:.1f} %{' (noisy)' if result.noisy else ''}",
        f"whole step {sweep_text.ms_text(result.step_ms)} ms",
        f"{format.count(result.samples_per_s)} samples/s of it",
        f"{result.runs} steps",
    ]
    if result.peak_memory_bytes is not None:
        figures.append(f"peak {format.memory(result.peak_memory_bytes)}")
    if result.share_of_ceiling is not None:
        about = "about " if result.ceiling_noisy else ""
        figures.append(f"{about}{format.percent(result.share_of_ceiling)} of its ceiling")
    lines = [", ".join(figures)]
    if result.error:
        lines.append(result.error)
    fits = [curve.fit for curve in curves if curve.fit and family_of(curve.fit) == family_of(result)]
    return [*lines, "; ".join(sweep_text.fit_lines(fits[0]))] if fits else lines


def with_line(curve: Curve) -> list[Line]:
    """A curve's mark and name, its line and what that says of batch sizes."""
    mark, role = mark_of(curve.number)
    runs: list[Run] = [(f"{mark} ", role), curve.name]
    fit = curve.fit
    if fit is None:
        return [runs]
    half = "" if fit.half is None else f"   n1/2 {fit.half:.3g}"
    line = f"{format.significant(fit.a_ms)} + {format.significant(fit.c_ms)}·b ms"
    runs.append((f"   {line}{half}   best {fit.best:,}", "dim"))
    out = [
        f"batch {batch:,} {word}"
        for batches, word in ((fit.worse_than_fit, "slower"), (fit.better_than_fit, "faster"))
        for batch in batches
    ]
    return [runs, [(f"  off the line: {', '.join(out)}", "dim")]] if out else [runs]


def marks(curves: Sequence[Curve]) -> Line:
    """Which mark is which curve, on one line."""
    runs: list[Run] = []
    for curve in curves:
        mark, role = mark_of(curve.number)
        runs += [(f"{mark} ", role), (f"{curve.name.replace('forward+backward', 'fwd+bwd')}   ", "dim")]
    return runs
