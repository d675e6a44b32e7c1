"""A value over time as a line of dots, redrawn only where it changed.

The window does not slide with every new column: it stands still while the line grows into the room kept
free at its right end, and then moves on by that room in one go. So most redraws touch one or two rows, and
the picture stays calm. Labels are a widget of their own because Textual rewrites a row from its widget's
left edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.widget import Widget

from .. import format as text_format
from ..series import Series, Window
from .dots import COLUMNS_PER_CELL, rows_of
from .glyphs import fit, glyphs
from .lines import Line, Lines
from .scale import Scale, labelled_rows
from .text import padded
from .time_axis import Marker, axis_runs

__all__ = ["Marker", "TimeChart"]

_ROOM = 0.1
"""Share of the width kept free for what comes."""


class TimeChartPlot(Lines):
    """The dots and, below them, the time axis. Its colour is the line's."""

    DEFAULT_CSS = """
    TimeChartPlot { width: 1fr; height: 1fr; color: $primary; }
    """

    def __init__(self, window_s: float, scale: Scale, axis: bool, on_top: Callable[[float], None]) -> None:
        super().__init__()
        self.window_s = window_s
        self._axis = axis
        self._on_top = on_top
        self._scale = scale
        self._series = Series()
        self._window = Window()
        self._below: Series | None = None
        self._below_window = Window()
        self._now_s = 0.0
        self._markers: tuple[Marker, ...] = ()
        self._seen: object = None
        self._first_cell = 0
        self._grid: tuple[int, float] | None = None

    def take(
        self, series: Series, now_s: float, markers: Sequence[Marker], below: Series | None = None
    ) -> None:
        """Draw these, unless nothing that can be seen has changed."""
        both = tuple((id(each), each.version) for each in (series, below) if each is not None)
        seen = (both, self._cell_of(now_s), tuple(markers), self.window_s, self._scale)
        if seen == self._seen and not self.is_stale:
            return
        self._seen = seen
        self._series, self._now_s, self._markers = series, now_s, tuple(markers)
        self._below = below
        self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Rows of dots, then the axis where there is one."""
        cell_s = self.window_s / width
        first = self._advance(width, cell_s)
        kind = glyphs()
        per_cell = COLUMNS_PER_CELL[kind]
        wanted = (first * per_cell - 1, width * per_cell + 1, cell_s / per_cell)
        columns = self._window.columns(self._series, *wanted)
        below = None if self._below is None else self._below_window.columns(self._below, *wanted)
        top = self._scale.follow(columns[1:])
        self._on_top(top)
        rows: list[Line] = list(rows_of(columns, self.plot_rows(height), top, kind, below))
        if len(rows) < height:
            rows.append(axis_runs(first, width, cell_s, self._markers))
        return rows

    def set_scale(self, scale: Scale) -> None:
        """Draw in another range from now on."""
        self._scale = scale
        self.rebuild()

    def plot_rows(self, height: int) -> int:
        """Rows of dots in so many rows: the axis needs two above it to be worth its own."""
        return height - 1 if self._axis and height >= 3 else height

    def _cell_of(self, t_s: float) -> int:
        return math.floor(t_s * self.size.width / self.window_s)

    def _advance(self, width: int, cell_s: float) -> int:
        """The first cell of the window, moved on if `now` has left it."""
        now_cell = math.floor(self._now_s / cell_s)
        fits = self._grid == (width, cell_s) and self._first_cell <= now_cell < self._first_cell + width
        if not fits:
            self._grid = (width, cell_s)
            room = max(1, round(width * _ROOM))
            self._first_cell = 0 if now_cell < width else now_cell - width + room
        return self._first_cell


class TimeChart(Widget):
    """The last `window_s` seconds of one series, in as many rows as CSS gives it.

    With axis (the default): value labels on the left, and a bottom row with change markers and times.
    Without: dots alone, from one row up.
    """

    DEFAULT_CSS = """
    TimeChart { layout: horizontal; width: 1fr; height: 1fr; }
    TimeChart > .time-chart--scale { width: auto; height: 1fr; color: $text-muted; }
    """

    def __init__(
        self,
        *,
        window_s: float = 120.0,
        y_max: float | None = None,
        y_format: Callable[[float], str] = text_format.axis,
        axis: bool = True,
        label_width: int = 6,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`y_max` None: the range follows the values in 1-2-5 steps, from 0; `label_width` in cells."""
        super().__init__(id=id, classes=classes)
        self._y_format = y_format
        self._y_max = y_max
        self._label_width = label_width
        self._labelled_for: tuple[float, int] | None = None
        self._labels = Lines(classes="time-chart--scale") if axis else None
        self._plot = TimeChartPlot(window_s, Scale(y_max), axis, self._label)

    def compose(self) -> ComposeResult:
        """Labels, then the plot."""
        if self._labels is not None:
            self._labels.styles.width = self._label_width + 2
            yield self._labels
        yield self._plot

    @property
    def window_s(self) -> float:
        """Seconds that the width stands for."""
        return self._plot.window_s

    @window_s.setter
    def window_s(self, seconds: float) -> None:
        self._plot.window_s = seconds
        self._plot.rebuild()

    @property
    def y_max(self) -> float | None:
        """The top of the range; None where it follows the values."""
        return self._y_max

    @y_max.setter
    def y_max(self, value: float | None) -> None:
        if value != self._y_max:
            self._y_max = value
            self._plot.set_scale(Scale(value))

    def show(
        self,
        series: Series,
        now_s: float,
        markers: Sequence[Marker] = (),
        below: Series | None = None,
    ) -> None:
        """Draw what is new, at 1-2 Hz; `now_s` in the series' time. Nothing happens while not displayed.

        `below`: a second series in the same range, drawn as a filled area.
        """
        self._plot.take(series, now_s, markers, below)

    @property
    def text(self) -> str:
        """What is drawn, labels included, one line per row."""
        plot = self._plot.text.split("\n")
        labels = self._labels.text.split("\n") if self._labels is not None else [""] * len(plot)
        width = self._label_width + 2 if self._labels is not None else 0
        return "\n".join(f"{label:<{width}}{row}".rstrip() for label, row in zip(labels, plot, strict=False))

    def _label(self, top: float) -> None:
        """Write the labels for a range up to `top`."""
        height = self._plot.size.height
        if self._labels is None or (top, height) == self._labelled_for:
            return
        self._labelled_for = (top, height)
        rows = self._plot.plot_rows(height)
        values = labelled_rows(rows, top)
        lines = [self._labelled(values.get(row), "┤" if row in values else "│") for row in range(rows)]
        if rows < height:
            lines.append(self._labelled(0.0, "┼"))
        self._labels.show(lines)

    def _labelled(self, value: float | None, edge: str) -> str:
        text = "" if value is None else fit(self._y_format(value))
        return f"{padded(text[: self._label_width], self._label_width, right=True)} {fit(edge)}"
