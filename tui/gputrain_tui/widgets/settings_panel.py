"""The settings with their values, their neighbours on the ladder and their keys: a panel, or a few lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .lines import Line, Lines, Role, Run
from .text import padded, width_of


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as it is to be shown; the texts are display texts, `×2`."""

    name: str
    """The setting's name in `Settings`: batch_size."""
    label: str
    short_label: str
    """For the strip: batch, size; empty where the value speaks for itself."""
    value: str
    lower: str | None
    """What a step down gives; None where there is none, or where the values have no order."""
    higher: str | None
    keys: str
    """The keys that step it: `b B`; empty where nothing can be turned."""
    by_arrows: bool = False
    """Without keys of its own: where there is little room it is shown only while it is marked."""
    pending: bool = False
    """Asked for and not yet in force."""
    fresh: bool = False
    """Changed in the last two seconds: briefly brighter."""


class SettingsPanel(Lines):
    """One row per setting; with `strip=True` as many settings per line as fit, none of them divided."""

    DEFAULT_CSS = """
    SettingsPanel { height: auto; }
    """

    def __init__(
        self,
        *,
        strip: bool = False,
        title: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`title`: a first row of the panel, with the word `key` over the keys."""
        super().__init__(id=id, classes=classes)
        self._strip = strip
        self._title = title
        self._rows: Sequence[SettingRow] = ()
        self._cursor: str | None = None

    def show_settings(self, rows: Sequence[SettingRow], cursor: str | None = None) -> None:
        """Show the rows; `cursor` is the name of the setting that enter would edit, marked ▸."""
        if rows == self._rows and cursor == self._cursor and not self.is_stale:
            return
        self._rows = rows
        self._cursor = cursor
        if self.styles.is_auto_height and self.is_mounted:
            height = self._height_for(self.size.width or 80)
            if height != len(self._given):
                self._given = [""] * height
                self.refresh(layout=True)
        self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The panel, or the strip in as much detail as fits."""
        if not self._strip:
            return self._panel(width)
        for labels in (True, False):
            lines = self._strip_lines(width, labels)
            if len(lines) <= height:
                break
        return lines

    def _height_for(self, width: int) -> int:
        if self._strip:
            return len(self._strip_lines(width, True))
        return len(self._rows) + bool(self._title)

    def _strip_lines(self, width: int, labels: bool) -> list[Line]:
        lines: list[list[Run]] = []
        used = 0
        for row in self._rows:
            if row.by_arrows and row.name != self._cursor:
                continue
            item = self._strip_item(row, labels)
            length = width_of(item)
            if lines and used + 2 + length <= width:
                lines[-1] += ["  ", *item]
                used += 2 + length
            else:
                lines.append(item)
                used = length
        return list(lines)

    def _strip_item(self, row: SettingRow, labels: bool) -> list[Run]:
        chosen = row.name == self._cursor
        words: list[tuple[str, Role]] = [
            (row.keys.split(" ")[0], "accent" if chosen else "strong"),
            (row.short_label if labels else "", "dim"),
            (_value(row), _role(row)),
        ]
        there = [word for word in words if word[0]]
        return [(f" {text}" if at else text, role) for at, (text, role) in enumerate(there)]

    def _panel(self, width: int) -> list[Line]:
        label_width = 2 + max((width_of(row.label) for row in self._rows), default=0)
        keys_width = max((width_of(row.keys) for row in self._rows), default=0)
        room = width - label_width - keys_width - 4
        value_width = max((width_of(_value(row)) for row in self._rows), default=0)
        neighbours = [_neighbours(row) for row in self._rows]
        fits = all(width_of(each) + value_width + 2 <= room for each in neighbours)
        lines: list[Line] = []
        if self._title:
            over_keys = padded("key", keys_width) if keys_width else ""
            lines.append([(padded(self._title, width - keys_width), "strong"), (over_keys, "dim")])
        for row, neighbour in zip(self._rows, neighbours, strict=True):
            chosen = row.name == self._cursor
            value = _value(row)
            shown = neighbour if fits else ""
            lines.append(
                [
                    ("▸ " if chosen else "  ", "accent"),
                    (padded(row.label, label_width), "accent" if chosen else "dim"),
                    (value, _role(row)),
                    " " * max(1, room - width_of(value) - width_of(shown)),
                    (shown + "  ", "dim"),
                    padded(row.keys, keys_width),
                ]
            )
        return lines


def _value(row: SettingRow) -> str:
    return f"{row.value}…" if row.pending else row.value


def _role(row: SettingRow) -> Role:
    return "strong" if row.pending or row.fresh else ""


def _neighbours(row: SettingRow) -> str:
    if row.lower is None and row.higher is None:
        return ""
    return f"{row.lower or ''} ◂ ▸ {row.higher or ''}".strip(" ")
