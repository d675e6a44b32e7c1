"""A sweep's table on the screen: nets and batch sizes by devices and passes, filling while it runs."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.sweep.plan import Point

from .. import sweep_text
from ..sweep_matrix import Column, Matrix, Results, Row
from .lines import Line, Lines
from .text import Run, padded, shorten

COLUMN_CELLS = 12
BATCH_CELLS = 8
HEADS = {"forward": "forward", "training": "fwd+bwd"}
HEAD_ROWS = 2
WAITS, NOW = "·", "measuring"
"""What stands for a point that is still to come, and for the one under way."""


class SweepTable(Lines):
    """As many rows and columns as fit, the marked ones among them; the head tells how many more there are."""

    DEFAULT_CSS = "SweepTable { width: 1fr; height: 1fr; }"

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._matrix = Matrix(())
        self._results: Results = {}
        self._now: Point | None = None
        self._at = self._across = 0

    @property
    def marked(self) -> Row | None:
        """The marked row."""
        return self._matrix.rows[self._at] if self._matrix.rows else None

    @property
    def marked_column(self) -> Column | None:
        """The marked column."""
        return self._matrix.columns[self._across] if self._matrix.columns else None

    def draw_table(self, matrix: Matrix, results: Results, now: Point | None) -> None:
        """Show these; `now` is being measured."""
        self._matrix, self._results, self._now = matrix, results, now
        self.move(0, 0)

    def mark(self, point: Point) -> None:
        """Mark the row and column of a point."""
        column = point.settings.device, point.settings.passes
        for at, row in enumerate(self._matrix.rows):
            if row.points.get(column) == point:
                self._at, self._across = at, self._matrix.columns.index(column)
        self.rebuild()

    def move(self, by: int, across: int = 0) -> None:
        """Mark another row, another column; stops at either end."""
        self._at = max(0, min(self._at + by, len(self._matrix.rows) - 1))
        self._across = max(0, min(self._across + across, len(self._matrix.columns) - 1))
        self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Head and rows."""
        rows = self._matrix.rows
        if not rows:
            return [[("starting: PyTorch is being loaded", "dim")]]
        names = min(max(len(row.net) for row in rows) + 3, max(10, width // 3))
        shown = self._visible(max(1, (width - names - BATCH_CELLS) // COLUMN_CELLS))
        room = max(1, height - HEAD_ROWS)
        first = max(0, min(self._at - room // 2, len(rows) - room))
        visible = range(first, min(len(rows), first + room))
        return [*self._head(shown, names), *(self._row(at, at == first, shown, names) for at in visible)]

    def _visible(self, count: int) -> list[Column]:
        """So many columns, the marked one among them."""
        columns = self._matrix.columns
        first = max(0, min(self._across - count // 2, len(columns) - count))
        return columns[first : first + count]

    def _head(self, shown: Sequence[Column], names: int) -> list[Line]:
        devices = ""
        for at, (device, _) in enumerate(shown):
            if at == 0 or shown[at - 1][0] != device:
                span = sum(other == device for other, _ in shown) * COLUMN_CELLS
                devices += padded(shorten(self._matrix.device_name(device), span - 2), span, right=True)
        hidden = len(self._matrix.columns) - len(shown)
        note = "ms" if not hidden else f"ms; ← → {hidden} more"
        left = names + BATCH_CELLS
        heads: list[Run] = [(padded("  net", names) + padded("batch", BATCH_CELLS, right=True), "dim")]
        for column in shown:
            marked = column == self.marked_column
            text = f"▼ {HEADS[column[1]]}" if marked else HEADS[column[1]]
            heads.append((padded(text, COLUMN_CELLS, right=True), "accent" if marked else "dim"))
        return [[(padded(shorten(f"  {note}", left), left) + devices, "dim")], heads]

    def _row(self, at: int, first: bool, shown: Sequence[Column], names: int) -> Line:
        rows = self._matrix.rows
        row, marked = rows[at], at == self._at
        new = first or rows[at - 1].net != row.net
        runs: list[Run] = [
            ("▸ " if marked else "  ", "accent"),
            (padded(shorten(row.net, names - 3) if new else "", names - 2), "accent" if marked else ""),
            (padded(f"{row.batch_size:,}", BATCH_CELLS, right=True), "accent" if marked else "dim"),
        ]
        return [*runs, *(self._cell(row.points.get(column)) for column in shown)]

    def _cell(self, point: Point | None) -> Run:
        if point is None:
            return " " * COLUMN_CELLS
        result = self._results.get(point.key)
        if point == self._now:
            return padded(NOW, COLUMN_CELLS, right=True), "accent"
        if result is None:
            return padded(WAITS, COLUMN_CELLS, right=True), "dim"
        text = padded(sweep_text.cell(result), COLUMN_CELLS, right=True)
        return text, "strong" if result.ms is not None else "warning" if result.outcome == "failed" else "dim"
