"""What lies in a folder, newest first: one to open, two to compare."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Generic, Protocol, TypeVar

from textual.app import ComposeResult
from textual.message import Message

from .. import keys
from ..widgets.lines import Lines
from ..widgets.text import Line, short_path, shorten, wrapped
from . import heading
from .message_line import AnsweringScreen, MessageLine
from .reading import ReadingScreen


class Past(Protocol):
    """A file in the list."""

    @property
    def path(self) -> str | Path:
        """Where it lies."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be read; None where it can."""


Item = TypeVar("Item", bound=Past)


class PastScreen(AnsweringScreen, Generic[Item]):
    """A list of files; a subclass says which, how a row of them reads, and what opening and comparing do."""

    AUTO_FOCUS = ""
    name_of_all: str
    """What they are called; the ids of the screen's parts begin with it."""
    actions: tuple[keys.Action, ...]
    none_yet: str
    """What is said where there are none."""

    class Listed(Message):
        """The folder has been read."""

        def __init__(self, found: Sequence[Past]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, sized: str) -> None:
        """`sized`: the classes of the terminal's size."""
        super().__init__(classes=f"{self.name_of_all} {sized}")
        self._found: Sequence[Item] | None = None
        self._at = 0
        self._other: Item | None = None
        """The one to compare with."""

    @abstractmethod
    def _folder(self) -> Path:
        """Where they lie."""

    @abstractmethod
    def _list(self) -> Sequence[Item]:
        """Those in the folder, newest first; called in a thread of its own."""

    @abstractmethod
    def _compared(self, one: Item, other: Item) -> Callable[[int], str] | None:
        """The comparison as a text for so many cells; None where it cannot be made, which was said."""

    @abstractmethod
    def _heads(self, width: int) -> str:
        """What the columns of a row hold, behind its sign."""

    @abstractmethod
    def _cells(self, each: Item, marked: bool, width: int) -> Line:
        """A row behind its sign."""

    def compose(self) -> ComposeResult:
        """Head, list, message, keys."""
        yield Lines([""], id=f"{self.name_of_all}-head")
        yield Lines(id=f"{self.name_of_all}-list")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_screen_resume(self) -> None:
        """Read the folder; also anew on coming back, since what is in it may have changed."""
        super().on_screen_resume()
        self.read_folder()

    def read_folder(self) -> None:
        """Read the folder aside: it may hold hundreds of megabytes."""
        Thread(
            target=lambda: self.post_message(self.Listed(self._list())),
            name=f"listing {self.name_of_all}",
            daemon=True,
        ).start()

    def on_past_screen_listed(self, event: Listed) -> None:
        """Show them; the mark stays at the same file where that is still there."""
        marked = self._found[self._at].path if self._found else None
        self._found = event.found  # type: ignore[assignment]
        same = [at for at, each in enumerate(event.found) if each.path == marked]
        self._at = same[0] if same else max(0, min(self._at, len(event.found) - 1))
        self.draw()

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Everything."""
        width = self.size.width
        folder = short_path(str(self._folder()), width - len(self.name_of_all) - 3)
        head: Line = [(self.name_of_all, "strong"), (f"   {folder}", "dim")]
        self.query_one(f"#{self.name_of_all}-head", Lines).show([head])
        rows = self.query_one(f"#{self.name_of_all}-list", Lines)
        rows.show(self._rows(width, rows.size.height))
        shown = [*keys.line(self.actions), *keys.line(keys.APP)]
        self.query_one("#keys", Lines).show([heading.keys_line(shown, width)])
        self.query_one("#message", MessageLine).stand(
            "" if self._other is None else f"c on another one compares it with {Path(self._other.path).name}"
        )
        self.drawn()

    def action_move(self, by: int) -> None:
        """Mark another one."""
        if self._found:
            self._at = max(0, min(len(self._found) - 1, self._at + by))
            self.draw()

    def action_compare(self) -> None:
        """Mark the first of two, or compare the marked one with it."""
        marked = self._marked()
        if marked is None:
            return
        if self._other is None or self._other.path == marked.path:
            self._other = None if self._other is not None else marked
            self.draw()
            return
        first, self._other = self._other, None
        text = self._compared(first, marked)
        if text is None:
            self.draw()
        else:
            self.app.push_screen(ReadingScreen(f"two {self.name_of_all}", text))

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.app.pop_screen()

    def _marked(self) -> Item | None:
        if not self._found:
            self.say(self.none_yet)
            return None
        marked = self._found[self._at]
        if marked.problem is not None:
            self.say(f"{marked.path}: {marked.problem}")
            return None
        return marked

    def _rows(self, width: int, height: int) -> list[Line]:
        if self._found is None:
            return [[("reading ...", "dim")]]
        if not self._found:
            return [*wrapped(self.none_yet, width, 2)]
        height = max(1, height - 1)
        first = max(0, min(self._at - height // 2, len(self._found) - height))
        rows = [
            self._row(each, first + at == self._at, width)
            for at, each in enumerate(self._found[first : first + height])
        ]
        return [[(f"  {self._heads(width - 2)}", "dim")], *rows]

    def _row(self, each: Item, marked: bool, width: int) -> Line:
        is_other = self._other is not None and each.path == self._other.path
        sign = "▸ " if marked else "= " if is_other else "  "
        if each.problem is not None:
            return [(sign, "accent"), (shorten(f"{Path(each.path).name}: {each.problem}", width - 2), "dim")]
        return [(sign, "accent"), *self._cells(each, marked, width)]
