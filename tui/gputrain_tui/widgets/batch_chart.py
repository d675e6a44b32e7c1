"""Curves of time against batch size, both axes logarithmic: marks where it was measured, fitted lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .. import format as text_format
from ..sweep_matrix import Curve
from .glyphs import GlyphName, fit, glyphs
from .lines import Line, Lines
from .text import Role, Run, padded

MARKS = "●○▲x+#"
"""One for each curve; in ASCII the first three become `*`, `o` and `^`."""
CURVE_ROLES: tuple[Role, ...] = ("accent", "strong", "")
LABEL_CELLS = 7
SMALLEST = (24, 5)
"""Cells below which nothing is drawn."""
_BRAILLE_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))

_Cells = dict[tuple[int, int], tuple[str, Role]]
"""By row, from the bottom, and column."""


class BatchChart(Lines):
    """Draws anew where the curves have changed."""

    DEFAULT_CSS = "BatchChart { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._curves: Sequence[Curve] = ()

    def draw_curves(self, curves: Sequence[Curve]) -> None:
        """Show these."""
        if list(curves) != list(self._curves):
            self._curves = list(curves)
            self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The plot."""
        return plot_rows(self._curves, width, height, glyphs())


def mark_of(number: int) -> tuple[str, Role]:
    """The mark and role of the curve of that number."""
    return fit(MARKS[number % len(MARKS)]), CURVE_ROLES[number % len(CURVE_ROLES)]


def plot_rows(curves: Sequence[Curve], width: int, height: int, kind: GlyphName) -> list[Line]:
    """The curves in so many cells: labels at the left, batch sizes below; nothing where there is no point."""
    points = [point for curve in curves for point in curve.points]
    if not points or (width, height) < SMALLEST or height < SMALLEST[1]:
        return []
    columns, rows = width - LABEL_CELLS - 2, height - 2
    across = _Axis([batch for batch, _ in points], columns)
    up = _Axis([ms for _, ms in points], rows)
    cells = _line_dots(curves, across, up) if kind == "braille" else _line_points(curves, across, up, kind)
    for curve in curves:
        for batch, ms in curve.points:
            cells[up.cell(ms), across.cell(batch)] = mark_of(curve.number)
    labels = _y_labels(up)
    lines: list[Line] = [_row(cells, row, columns, labels.get(row)) for row in range(rows - 1, -1, -1)]
    axis = padded("", LABEL_CELLS, right=True) + fit(" ┼" + "─" * columns)
    return [*lines, [(axis, "dim")], [(" " * (LABEL_CELLS + 2) + _x_labels(points, across), "dim")]]


class _Axis:
    """A logarithmic axis over so many cells."""

    def __init__(self, values: Sequence[float], cells: int) -> None:
        low, high = min(values), max(values)
        if high / low < 1.5:  # Of a narrow range the middle.
            low, high = low / 1.5, high * 1.5
        self.low, self.high, self.cells = low, high, cells

    def place(self, value: float, per_cell: int = 1) -> int:
        """The dot of a value, counted from the axis' beginning."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(min(1.0, max(0.0, share)) * (self.cells * per_cell - 1))

    def cell(self, value: float) -> int:
        """The cell of a value."""
        return self.place(value)

    def value(self, dot: int, per_cell: int) -> float:
        """What a dot stands for."""
        share = dot / max(1, self.cells * per_cell - 1)
        return float(self.low * (self.high / self.low) ** share)


def _line_dots(curves: Sequence[Curve], across: _Axis, up: _Axis) -> _Cells:
    """Every fitted line in braille dots."""
    bits: dict[tuple[int, int], int] = {}
    roles: dict[tuple[int, int], Role] = {}
    for curve in curves:
        before: int | None = None
        for x, y in _on_line(curve, across, up, 2, 4):
            for dot in _joined(before, y):
                cell = dot >> 2, x >> 1
                bits[cell] = bits.get(cell, 0) | _BRAILLE_BITS[x & 1][dot & 3]
                roles[cell] = mark_of(curve.number)[1]
            before = y
    return {cell: (chr(0x2800 + found), roles[cell]) for cell, found in bits.items()}


def _line_points(curves: Sequence[Curve], across: _Axis, up: _Axis, kind: GlyphName) -> _Cells:
    """Every fitted line, one point for each column."""
    point = "." if kind == "ascii" else "·"
    return {
        (y, x): (point, mark_of(curve.number)[1])
        for curve in curves
        for x, y in _on_line(curve, across, up, 1, 1)
    }


def _on_line(curve: Curve, across: _Axis, up: _Axis, wide: int, high: int) -> Iterable[tuple[int, int]]:
    """The dots of the fitted line, from the curve's smallest batch to its largest."""
    if curve.fit is None:
        return
    first, last = (across.place(curve.points[at][0], wide) for at in (0, -1))
    for x in range(first, last + 1):
        ms = curve.fit.a_ms + curve.fit.c_ms * across.value(x, wide)
        if up.low <= ms <= up.high:
            yield x, up.place(ms, high)


def _joined(before: int | None, now: int) -> range:
    """The dots from the one before to this one."""
    if before is None or abs(now - before) <= 1:
        return range(now, now + 1)
    return range(before + 1, now + 1) if now > before else range(now, before)


def _row(cells: _Cells, row: int, columns: int, label: str | None) -> Line:
    edge = "│" if label is None else "┤"
    runs: list[Run] = [(f"{padded(label or '', LABEL_CELLS, right=True)} {fit(edge)}", "dim")]
    for column in range(columns):
        runs.append(cells.get((row, column), " "))
    return runs


def _y_labels(up: _Axis) -> dict[int, str]:
    """Rows that carry a round value, with two rows between them."""
    labels: dict[int, str] = {}
    exponents = range(math.floor(math.log10(up.low)), math.ceil(math.log10(up.high)) + 1)
    round_values = [digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)]
    for value in (each for each in round_values if up.low <= each <= up.high):
        row = up.cell(value)
        if all(abs(row - other) >= 2 for other in labels):
            labels[row] = f"{text_format.axis(value) if value >= 1 else f'{value:g}'} ms"[:LABEL_CELLS]
    return labels


def _x_labels(points: Iterable[tuple[int, float]], across: _Axis) -> str:
    """As many batch sizes as there is room for, the largest among them."""
    text = [" "] * across.cells
    for batch in sorted({batch for batch, _ in points}, reverse=True):
        label = f"{batch:,}"
        begin = min(across.cell(batch), across.cells - len(label))
        around = text[max(0, begin - 1) : begin + len(label) + 1]
        if begin >= 0 and not "".join(around).strip():
            text[begin : begin + len(label)] = label
    return "".join(text).rstrip()
