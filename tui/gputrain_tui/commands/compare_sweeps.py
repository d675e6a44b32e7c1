"""`gputrain-tui compare` of two sweeps: the points that they have in common, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gputrain_runner.recordings.compare import NotComparableError
from gputrain_runner.settings import RULES
from gputrain_runner.sweep.compare import PointRow, SweepComparison, compare
from gputrain_runner.sweep.result import PointResult, SweepFileError, load

from .. import format, sweep_text
from .comparing import differences, head, ratio_cells, shorter
from .parsing import UsageError
from .table import first_fitting, stacked, table, told


def compared(a: Path, b: Path, anyway: bool) -> SweepComparison:
    """The comparison; UsageError where a file is no sweep.

    Raises:
        NotComparableError: they did different work, and it is not wanted `anyway`.
    """
    try:
        one, other = load(a), load(b)
    except SweepFileError as error:
        raise UsageError(str(error)) from None
    return compare((str(a), one), (str(b), other), anyway)


def gate(found: SweepComparison, least: float) -> tuple[bool, str]:
    """Whether every point of B reaches that share of A's samples/s, and a line that says so."""
    lost = [row for row in found.rows if row.lost]
    asked = f"at least ×{least:g} is asked for"
    if lost:
        outcome = sweep_text.MISSING[lost[0].b_outcome]
        return False, f"FAILED: {_label(lost[0])} was measured in A and is {outcome} in B"
    worst = found.worst
    if worst is None or worst.ratio is None:
        raise NotComparableError("no point has a rate in both")
    rate = worst.ratio
    passed = rate.ratio >= least
    between = f"({rate.low:.3f}–{rate.high:.3f})"
    word = "passed" if passed else "FAILED"
    return passed, f"{word}: at worst, {_label(worst)}, samples/s is ×{rate.ratio:.3f} {between}, {asked}"


def as_text(found: SweepComparison, width: int | None = None) -> str:
    """The comparison for people, in at most `width` cells where that is given."""
    lines = head(found.a, found.b, found.warnings, width)
    lines += differences("settings", found.settings, lambda name: RULES[name].label, width)
    lines += differences("measuring", found.measuring, str, width)
    lines += differences("machine", found.machine, str, width)
    heads = ("", "A, step ms", "B, step ms", "A, samples/s", "B, samples/s", "B / A", "(19 of 20)", "")
    rows = [heads, *map(_row, found.rows)]
    short = shorter(rows)
    few = [(*row[:3], *row[5:]) for row in short]
    few[0] = (*few[0][:3], "rate B / A", *few[0][4:])
    layouts = [
        *(table(rows, left=(0, 7)), table(short, left=(0, 7)), table(few, left=(0, 5))),
        stacked(few, left=(5,)),
    ]
    lines += first_fitting(layouts, width)
    lines += _alone("A", found.only_a, width) + _alone("B", found.only_b, width)
    return "\n".join(lines)


def _row(row: PointRow) -> tuple[str, ...]:
    return (
        _label(row),
        _ms(row.a_ms, row.a_outcome),
        _ms(row.b_ms, row.b_outcome),
        "" if row.a is None else format.count(row.a.median),
        "" if row.b is None else format.count(row.b.median),
        *ratio_cells(row.ratio),
    )


def _ms(ms: float | None, outcome: str) -> str:
    return sweep_text.MISSING.get(outcome, format.UNKNOWN) if ms is None else sweep_text.plain_ms(ms)


def _label(row: PointRow) -> str:
    return sweep_text.label(row)


def _alone(side: str, points: Sequence[PointResult], width: int | None) -> list[str]:
    """Points that the other has not, a few of them by name."""
    if not points:
        return []
    named = "; ".join(sweep_text.label(point) for point in points[:3])
    more = f" and {len(points) - 3:,} more" if len(points) > 3 else ""
    return ["", *told(f"in {side} alone: {named}{more}", width, indent=2)]
