"""Sends the terminal only the cells that differ from what it shows already.

Textual rewrites every refreshed region whole, each run of text with its full style and a reset. Over SSH
those bytes are what makes a live screen heavy, and most of them say what the terminal shows anyway. Here the
last cell sent to each place is remembered, and an update is reduced to the cells that changed, with a style
sent only where it changes too. After a resize or a return from suspension nothing is taken for granted.

`FrugalApp` is the one place that reaches into Textual's drawing: it overrides `App._display` and reads
`LayoutUpdate` and `ChopsUpdate`, which are private. Another kind of update is passed on as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar, cast

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.driver import Driver
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip

from .widgets.glyphs import fit_cell

Cell = tuple[str, str, str]
"""A character, and what begins and ends its style. The second cell of a wide character has no character."""

Piece = tuple[int, int, Strip]
"""Column and row of a strip's first cell, and the strip."""

_UNSTYLED = ("", "")
_MARK = "\0"
_DEAREST_GAP = 4
"""Bytes of unchanged cells that are rewritten rather than jumped over: `ESC [ n G` has as many."""


class ScreenMemory:
    """What the terminal shows, cell by cell; None where that is not known."""

    def __init__(self) -> None:
        self._rows: list[list[Cell | None]] = []
        self._size = (0, 0)

    def forget(self) -> None:
        """Assume nothing about what the terminal shows."""
        width, height = self._size
        self._rows = [[None] * width for _ in range(height)]

    def fit(self, width: int, height: int) -> None:
        """Hold a terminal of this size; one of another size shows something unknown."""
        if (width, height) != self._size:
            self._size = (width, height)
            self.forget()

    def update(self, pieces: Iterable[Piece], colours: ColorSystem) -> str:
        """What to send so that the terminal shows these pieces."""
        changed: dict[int, set[int]] = {}
        for x, y, strip in pieces:
            if 0 <= y < len(self._rows):
                self._put(x, self._rows[y], cells_of(strip, colours), changed.setdefault(y, set()))
        return self._written(changed)

    @staticmethod
    def _put(x: int, row: list[Cell | None], cells: Sequence[Cell], changed: set[int]) -> None:
        for at, cell in enumerate(cells[: len(row) - x], x):
            if row[at] != cell:
                row[at] = cell
                changed.add(at)

    def _written(self, changed: dict[int, set[int]]) -> str:
        sent: list[str] = []
        style = _UNSTYLED
        for y, columns in changed.items():
            row = self._rows[y]
            # To a column, not so many columns on: a terminal that finds a character wider or narrower than we
            # do is then wrong about that one alone.
            move = f"\x1b[{y + 1};{{}}H"
            for first, end in runs_of_changes(sorted(columns), row):
                sent.append(move.format(first + 1))
                move = "\x1b[{}G"
                for cell in row[first:end]:
                    if cell is None or not cell[0]:
                        continue
                    if cell[1:] != style:
                        sent += (style[1], cell[1])
                        style = cell[1:]
                    sent.append(cell[0])
        sent.append(style[1])
        return "".join(sent)


def cells_of(strip: Strip, colours: ColorSystem) -> list[Cell]:
    """The cells of a strip; a mark without a width of its own joins the character before it."""
    cells: list[Cell] = []
    for text, style, control in strip:
        if control:
            continue
        before, after = _ends_of(Strip.render_style(style, _MARK, colours)) if style else _UNSTYLED
        if text.isascii():
            cells += [(character, before, after) for character in text]
            continue
        for character in text:
            width = cell_len(character)
            if width:
                cells.append((fit_cell(character), before, after))
                cells += [("", before, after)] * (width - 1)
            elif cells:
                base = next(i for i in range(len(cells) - 1, -1, -1) if cells[i][0] or not i)
                cells[base] = (cells[base][0] + fit_cell(character), *cells[base][1:])
    return cells


@lru_cache(4096)
def _ends_of(rendered: str) -> tuple[str, str]:
    """What begins and ends a style, from a rendered mark.

    A style begins where none is in force, so saying that a colour is the terminal's own says nothing.
    """
    before, _, after = rendered.partition(_MARK)
    if not (match := re.fullmatch(r"\x1b\[([\d;]+)m", before)):
        return before, after
    codes = [
        code
        for code in re.findall(r"[34]8;5;\d+|[34]8;2;\d+;\d+;\d+|\d+", match[1])
        if code not in ("39", "49")
    ]
    return (f"\x1b[{';'.join(codes)}m", after) if codes else _UNSTYLED


def runs_of_changes(columns: Sequence[int], row: Sequence[Cell | None]) -> Iterator[tuple[int, int]]:
    """Spans [first, end) of a row to write, covering the changed columns; short gaps are written over."""
    first = end = -1
    for column in columns:
        start = column
        while start and _is_second_half(row[start]):
            start -= 1
        if first < 0:
            first = start
        elif start > end and not _is_cheap(row[end - 1 : start]):
            yield first, end
            first = start
        end = max(end, column + 1)
        while end < len(row) and _is_second_half(row[end]):
            end += 1
    if first >= 0:
        yield first, end


def _is_second_half(cell: Cell | None) -> bool:
    return cell is not None and not cell[0]


def _is_cheap(cells: Sequence[Cell | None]) -> bool:
    """Whether a gap, given with the cell before it, has that cell's style and fewer bytes than a jump."""
    known = [cell for cell in cells if cell is not None]
    return (
        len(known) == len(cells)
        and all(cell[1:] == known[0][1:] for cell in known)
        and sum(len(cell[0].encode()) for cell in known[1:]) <= _DEAREST_GAP
    )


class _CellUpdate(CompositorUpdate):
    """An update of Textual's, reduced to what changes. Rendered only where it is really written."""

    def __init__(self, update: LayoutUpdate | ChopsUpdate, memory: ScreenMemory, size: Size) -> None:
        self._update = update
        self._memory = memory
        self._size = size

    def render_segments(self, console: Console) -> str:
        """The bytes to send, as text."""
        colours = console._color_system or ColorSystem.TRUECOLOR
        self._memory.fit(*self._size)
        update = self._update
        pieces = _layout_pieces(update) if isinstance(update, LayoutUpdate) else _chops_pieces(update)
        return self._memory.update(pieces, colours)


def _layout_pieces(update: LayoutUpdate) -> Iterator[Piece]:
    for y, strips in enumerate(update.strips, update.region.y):
        yield update.region.x, y, Strip.join(strips)


def _chops_pieces(update: ChopsUpdate) -> Iterator[Piece]:
    for y, x1, x2 in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            # Whole, not cropped to the span: what did not change costs nothing, and a crop may take the
            # accent off a letter at its edge.
            if strip is not None and x < x2 and end > x1:
                yield x, y, strip


Result = TypeVar("Result")


class FrugalApp(App[Result]):
    """An app that sends its terminal as little as possible."""

    def __init__(self, driver_class: type[Driver] | None = None, *, ansi_color: bool | None = None) -> None:
        super().__init__(driver_class, ansi_color=ansi_color)
        self._memory = ScreenMemory()

    def on_mount(self) -> None:
        """Learn when someone else has had the terminal."""
        self.app_resume_signal.subscribe(self, self._redraw, immediate=True)

    def on_resize(self) -> None:
        """Also sent when the terminal is taken up again at its old size."""
        self._memory.forget()

    def action_redraw(self) -> None:
        """Send the whole screen, which repairs what others have written over it."""
        self._redraw()

    def _redraw(self, _app: object = None) -> None:
        self._memory.forget()
        self.screen.refresh()

    def reduced(self, update: object) -> object:
        """An update of Textual's as one that sends only what changes; anything else as it is."""
        if isinstance(update, LayoutUpdate | ChopsUpdate):
            return _CellUpdate(update, self._memory, self.size)
        return update

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        # Updates are not renderables by their type, only by how they are used.
        super()._display(screen, cast("RenderableType | None", self.reduced(renderable)))
