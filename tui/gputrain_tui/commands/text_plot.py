"""A plot of a few curves in plain text, both axes logarithmic, for commands that print their result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .. import format

MARKS = "ox+#@%"
"""One for each curve, in order; where curves meet, `*`."""

_Points = Sequence[tuple[float, float]]


def log_plot(
    curves: Mapping[str, _Points], *, x_label: str, y_label: str, width: int = 72, height: int = 14
) -> str:
    """The curves' points (x, y), all above 0, and what their marks mean; "" where there is no point."""
    points = [point for curve in curves.values() for point in curve]
    if not points:
        return ""
    x_low, x_high = _range([x for x, _ in points])
    y_low, y_high = _range([y for _, y in points])
    axis_width = max(len(_number(value)) for value in (y_low, y_high))
    columns = width - axis_width - 3
    grid = [[" "] * columns for _ in range(height)]
    for mark, curve in zip(MARKS, curves.values(), strict=False):
        for x, y in curve:
            column = _place(x, x_low, x_high, columns)
            row = height - 1 - _place(y, y_low, y_high, height)
            grid[row][column] = mark if grid[row][column] in (" ", mark) else "*"
    lines = [y_label]
    for row, cells in enumerate(grid):
        label = _number(_value(height - 1 - row, y_low, y_high, height)) if row in (0, height - 1) else ""
        lines.append(f"{label:>{axis_width}} | {''.join(cells)}".rstrip())
    left, right = _number(x_low), _number(x_high)
    lines.append(" " * axis_width + " +" + "-" * (columns + 1))
    lines.append(" " * (axis_width + 3) + left + right.rjust(columns - len(left)))
    legend = "   ".join(f"{mark} {name}" for mark, name in zip(MARKS, curves, strict=False))
    lines.append(" " * (axis_width + 3) + f"{x_label}      {legend}")
    return "\n".join(lines)


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low / 2, high * 2)


def _place(value: float, low: float, high: float, cells: int) -> int:
    return round(math.log(value / low) / math.log(high / low) * (cells - 1))


def _value(cell: int, low: float, high: float, cells: int) -> float:
    return float(low * (high / low) ** (cell / (cells - 1)))


def _number(value: float) -> str:
    return format.short(value) if value >= 1 else f"{value:.3g}"
