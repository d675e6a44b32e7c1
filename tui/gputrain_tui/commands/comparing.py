"""What two files differ in, and who they are, as lines: for comparisons of recordings and of sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gputrain_runner.recordings.bootstrap import Ratio
from gputrain_runner.recordings.compare import Difference

from .. import format
from ..quantities import judgement
from .table import first_fitting, table, told

WELL_ABOVE = 10.0
"""A ratio from here on is told in three digits."""
_SHORT = {"within the noise": "noise"}


def head(a: str, b: str, warnings: Sequence[str], width: int | None) -> list[str]:
    """The two files, and what is to be known of them."""
    lines = [line for name, path in (("A", a), ("B", b)) for line in told(f"{name}  {path}", width, indent=3)]
    notes = [line for warning in warnings for line in told(f"note: {warning}", width, indent=6)]
    return [*lines, "", *notes]


def differences(
    title: str, found: Sequence[Difference], label: Callable[[str], str], width: int | None
) -> list[str]:
    """A table of them under the title, and an empty line; `label` is what a name is shown as."""
    if not found:
        return [f"{title}: the same", ""]
    rows = [(f"  {label(each.name)}", _value(each.a), "→", _value(each.b)) for each in found]
    layouts = [table(rows, left=(0, 1, 2, 3)), _below_each_other(rows, width)]
    return [f"{title} that differ", *first_fitting(layouts, width), ""]


def times(value: float) -> str:
    """A ratio without its sign: `0.951`, `10.6`, `142`."""
    return f"{value:.3f}" if value < WELL_ABOVE else format.significant(value)


def ratio_cells(ratio: Ratio | None) -> tuple[str, str, str]:
    """The ratio, where the true one lies, and what to think of it."""
    if ratio is None:
        return "", "", ""
    return f"×{times(ratio.ratio)}", f"({times(ratio.low)}–{times(ratio.high)})", judgement(ratio)


def shorter(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The same rows with fewer words in the last column."""
    return [(*row[:-1], _SHORT.get(row[-1], row[-1])) for row in rows]


def _below_each_other(rows: Sequence[tuple[str, str, str, str]], width: int | None) -> list[str]:
    """Both values below each other, for those that are too long to stand side by side."""
    names = max(len(row[0]) for row in rows) + 2
    lines: list[str] = []
    for name, a, arrow, b in rows:
        lines += told(f"{name.ljust(names)}  {a}", width, indent=names + 2)
        lines += told(f"{' ' * names}{arrow} {b}", width, indent=names + 2)
    return lines


def _value(value: object) -> str:
    return format.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)
