"""Asks for one line of text in a small box: a setting's value, a file's path."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input

from ..keys import Action, bindings
from ..widgets.lines import Lines
from ..widgets.text import wrapped

CANCEL = Action("cancel", ("escape",), "esc", "cancel", "cancel", "close without a change")


EDITING = {
    "backspace": "delete_left",
    "delete": "delete_right",
    "left": "cursor_left",
    "right": "cursor_right",
    "home": "home",
    "end": "end",
}
"""Keys that edit a line, and Textual's actions for them."""


class EditLine(Input):
    """Takes editing keys in the order in which they come.

    Textual runs a binding only after the key has gone up to the app, so that letters typed right behind a
    backspace would be there before it.
    """

    async def _on_key(self, event: Key) -> None:
        action = EDITING.get(event.key)
        if action is None:
            await super()._on_key(event)
        else:
            event.stop()
            event.prevent_default()
            getattr(self, f"action_{action}")()


class AskLine(ModalScreen[bool]):
    """Closes with True once `take` accepted the text; what it objects to is shown in place."""

    BINDINGS = bindings([CANCEL])

    def __init__(self, title: str, allowed: str, take: Callable[[str], str | None], text: str = "") -> None:
        """`take` is given the text and answers None, or in one line what is wrong with it."""
        super().__init__(classes="ask")
        self._title = title
        self._allowed = allowed
        self._take = take
        self._text = text

    def compose(self) -> ComposeResult:
        """Title, the line to type in, what is allowed or wrong, the keys."""
        with Vertical(id="ask-box"):
            yield Lines([[(self._title, "strong")]], id="ask-title")
            field = EditLine(self._text, id="ask-field", select_on_focus=True, compact=True)
            field.cursor_blink = False
            yield field
            yield Lines(id="ask-note")
            yield Lines([[("enter", "strong"), (" accept   ", "dim"), ("esc", "strong"), (" cancel", "dim")]])

    def on_mount(self) -> None:
        """Say what is allowed."""
        self.call_after_refresh(self._note, self._allowed, wrong=False)

    @on(Input.Submitted, "#ask-field")
    def accept(self, event: Input.Submitted) -> None:
        """Hand the text over; stay open where it is refused."""
        objection = self._take(event.value)
        if objection is None:
            self.dismiss(True)
        else:
            self._note(objection, wrong=True)

    def action_cancel(self) -> None:
        """Close without a change."""
        self.dismiss(False)

    def _note(self, text: str, *, wrong: bool) -> None:
        note = self.query_one("#ask-note", Lines)
        note.show(
            [[(line, "warning" if wrong else "dim")] for line in wrapped(text, max(20, note.size.width), 3)]
        )
