"""A text to be read: scrolled by keys, closed by escape."""

from __future__ import annotations

from textual.app import ComposeResult

from .. import keys
from ..widgets.lines import Lines
from ..widgets.text import Line, shorten
from . import heading
from .message_line import AnsweringScreen, MessageLine


class ReadingScreen(AnsweringScreen):
    """Lines as they are, as many as fit."""

    BINDINGS = keys.bindings(keys.READING)
    AUTO_FOCUS = ""
    help_place = "reading"

    def __init__(self, title: str, text: str) -> None:
        super().__init__(classes="reading")
        self._title = title
        self._text = text.splitlines()
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
        self._top = max(0, min(self._top, len(self._text) - height))
        shown: list[Line] = [[shorten(line, width)] for line in self._text[self._top : self._top + height]]
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
