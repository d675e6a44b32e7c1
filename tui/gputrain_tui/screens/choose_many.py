"""Chooses some of a list in a small box: presets, devices, passes."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from ..keys import Action, bindings
from ..widgets.lines import Lines
from ..widgets.text import Line, Run, padded, shorten

ACTIONS = (
    Action("many_up", ("up",), "up", "move(-1)", "", "the one above"),
    Action("many_down", ("down",), "down", "move(1)", "", "the one below"),
    Action("many_turn", ("space",), "space", "turn", "choose", "choose the marked one, or not"),
    Action("many_accept", ("enter",), "enter", "accept", "done", "take these"),
    Action("many_cancel", ("escape",), "esc", "cancel", "cancel", "close without a change"),
)
MOST_ROWS = 14


class ChooseMany(ModalScreen["tuple[str, ...] | None"]):
    """Closes with the chosen ones in the list's order; with None where nothing is to change."""

    BINDINGS = bindings(ACTIONS)

    def __init__(self, title: str, items: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        """`items`: each with what is said of it."""
        super().__init__(classes="ask")
        self._title = title
        self._items = list(items)
        self._chosen = set(chosen)
        self._at = next((at for at, (name, _) in enumerate(items) if name in self._chosen), 0)

    def compose(self) -> ComposeResult:
        """Title, the list, the keys."""
        with Vertical(id="ask-box"):
            yield Lines([[(self._title, "strong")]], id="ask-title")
            yield Lines([""] * min(MOST_ROWS, len(self._items)), id="many-list")
            yield Lines([self._keys()], id="many-keys")

    def on_mount(self) -> None:
        """Show the list once there is room."""
        self.call_after_refresh(self._draw)

    def on_resize(self) -> None:
        """Lay it out anew."""
        self.call_after_refresh(self._draw)

    def action_move(self, by: int) -> None:
        """Mark another one."""
        self._at = max(0, min(self._at + by, len(self._items) - 1))
        self._draw()

    def action_turn(self) -> None:
        """Choose the marked one, or not."""
        self._chosen ^= {self._items[self._at][0]}
        self._draw()

    def action_accept(self) -> None:
        """Take what is chosen; where nothing is, the marked one."""
        chosen = tuple(name for name, _ in self._items if name in self._chosen)
        self.dismiss(chosen or (self._items[self._at][0],))

    def action_cancel(self) -> None:
        """Close without a change."""
        self.dismiss(None)

    def _draw(self) -> None:
        rows = self.query_one("#many-list", Lines)
        height = rows.size.height or MOST_ROWS
        first = max(0, min(self._at - height // 2, len(self._items) - height))
        names = max(len(name) for name, _ in self._items) + 2
        shown: list[Line] = []
        for at, (name, about) in enumerate(self._items[first : first + height], start=first):
            marked = at == self._at
            sign = "[x] " if name in self._chosen else "[ ] "
            room = max(0, rows.size.width - names - 6)
            shown.append(
                [
                    ("▸ " if marked else "  ", "accent"),
                    (sign + padded(name, names), "accent" if marked else ""),
                    (shorten(about, room), "dim"),
                ]
            )
        rows.show(shown)

    def _keys(self) -> Line:
        runs: list[Run] = []
        for action in ACTIONS:
            if action.word:
                runs += [(action.shown, "strong"), (f" {action.word}   ", "dim")]
        return runs
