"""The presets as a list: filtered by what is typed, one of them marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..widgets.lines import Lines
from ..widgets.text import Line, padded, shorten

MARK = "▸ "
LEAST_TITLE = 8
"""A title in fewer cells says nothing."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row of the list."""

    name: str
    title: str
    note: str
    """At the right edge."""
    always: bool = False
    """Shown whatever the filter says."""


class PresetList(Lines):
    """Rows of name, title and note; as many as fit, the marked one always among them."""

    def __init__(self, items: Sequence[Item], *, id: str) -> None:
        super().__init__(id=id)
        self._items = list(items)
        self._shown = list(items)
        self._at = 0

    @property
    def chosen(self) -> Item:
        """The marked row."""
        return self._shown[self._at]

    def filter(self, text: str) -> None:
        """Show the rows in whose name or title every word of `text` occurs."""
        words = text.lower().split()
        before = self.chosen
        self._shown = [item for item in self._items if item.always or _matches(item, words)]
        # A mark the filter leaves is kept, so that typing on does not lose it; else the best row is first.
        self._at = self._shown.index(before) if before in self._shown and not before.always else 0
        self.rebuild()

    def move(self, by: int) -> None:
        """Mark another row; stops at either end."""
        self._at = max(0, min(self._at + by, len(self._shown) - 1))
        self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The rows around the marked one."""
        first = max(0, min(self._at - height // 2, len(self._shown) - height))
        return [
            self._row(item, index == self._at, width)
            for index, item in enumerate(self._shown[first : first + height], start=first)
        ]

    def cuts_title(self) -> bool:
        """Whether the marked row has too little room for its title."""
        return len(self.chosen.title) > self._room(self.chosen, self.size.width)

    def get_content_height(self, *_: object) -> int:
        """One row for each item, filtered or not, so that nothing below moves while typing."""
        return len(self._items)

    def _row(self, item: Item, marked: bool, width: int) -> Line:
        room = self._room(item, width)
        title = padded(shorten(item.title, room), room) if room > LEAST_TITLE else ""
        return [
            (MARK if marked else "  ", "accent"),
            (padded(item.name, self._names), "accent" if marked else "strong"),
            (title, "" if marked else "dim"),
            (f"  {item.note}" if item.note and room > LEAST_TITLE else "", "dim"),
        ]

    @property
    def _names(self) -> int:
        """Cells of the names, the gap behind them included."""
        return max(len(item.name) for item in self._items) + 2

    def _room(self, item: Item, width: int) -> int:
        """Cells for its title."""
        return width - len(MARK) - self._names - (len(item.note) + 2 if item.note else 0)


def _matches(item: Item, words: Sequence[str]) -> bool:
    text = f"{item.name} {item.title}".lower()
    return all(word in text for word in words)
