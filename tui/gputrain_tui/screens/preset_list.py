"""The presets as a list: filtered by what is typed, one of them marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..widgets.lines import Lines
from ..widgets.text import Line, padded, shorten

MARK = "▸ "


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
        names = max(len(item.name) for item in self._items) + 2
        return [
            self._row(item, index == self._at, names, width)
            for index, item in enumerate(self._shown[first : first + height], start=first)
        ]

    def get_content_height(self, *_: object) -> int:
        """One row for each item, filtered or not, so that nothing below moves while typing."""
        return len(self._items)

    def _row(self, item: Item, marked: bool, names: int, width: int) -> Line:
        room = width - len(MARK) - names - len(item.note) - 2
        title = padded(shorten(item.title, room), room) if room > 8 else ""
        return [
            (MARK if marked else "  ", "accent"),
            (padded(item.name, names), "accent" if marked else "strong"),
            (title, "" if marked else "dim"),
            (f"  {item.note}" if room > 8 else "", "dim"),
        ]


def _matches(item: Item, words: Sequence[str]) -> bool:
    text = f"{item.name} {item.title}".lower()
    return all(word in text for word in words)
