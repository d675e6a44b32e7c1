"""A text to be read: scrolled by keys, closed by escape."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult

from .. import keys
from ..widgets.lines import Lines
from ..widgets.text import Line, shorten
from . import heading
from .message_line import AnsweringScreen, MessageLine

LEAST_CELLS = 20
"""A narrower text is not laid out but cut."""


class ReadingScreen(AnsweringScreen):
    """A text laid out for the screen's width, as many of its lines as fit."""

    BINDINGS = keys.bindings(keys.READING)
    AUTO_FOCUS = ""
    help_place = "reading"

    def __init__(self, title: str, text: Callable[[int], str]) -> None:
        """`text`: the text laid out for so many cells."""
        super().__init__(classes="reading")
        self._title = title
        self._text = text
        self._top = 0

    def compose(self) -> ComposeResult:
        """Head, text, keys."""
        yield Lines([""], id="reading-head")
        yield Lines(id="reading-text")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """The lines from the top one on."""
        text = self.query_one("#reading-text", Lines)
        width, height = text.size
        lines = self._text(max(LEAST_CELLS, width)).splitlines()
        self._top = max(0, min(self._top, len(lines) - height))
        shown: list[Line] = [[shorten(line, width)] for line in lines[self._top : self._top + height]]
        text.show(shown)
        self.query_one("#reading-head", Lines).show([[(self._title, "strong")]])
        self.query_one("#keys", Lines).show([heading.keys_line(keys.line(keys.READING), self.size.width)])
        self.drawn()

    def action_scroll(self, by: int) -> None:
        """Lines up or down."""
        self._top += by
        self.draw()

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.app.pop_screen()
