"""The line in which the program answers a key, and then falls silent again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from textual.events import Resize
from textual.screen import ModalScreen, Screen

from ..widgets.lines import Lines
from ..widgets.text import Line, Role, with_short_paths

STAYS_S = 6.0


class MessageLine(Lines):
    """One line: what was said last, for some seconds, or what stands there as long as it holds."""

    def __init__(self, *, id: str, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__([""], id=id)
        self._clock = clock
        self._until_s = 0.0
        self._shown: tuple[str, Role] = ("", "")

    def say(self, text: str, role: Role = "", stays_s: float = STAYS_S) -> None:
        """Show `text` at once, for so long."""
        self._until_s = self._clock() + stays_s
        self._shown = (text, role)
        self.rebuild()

    def stand(self, text: str) -> None:
        """What to show while nothing was said of late; "" for nothing."""
        if self._clock() >= self._until_s:
            self._shown = (text, "warning")
            self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The line; a file's path in it gives way in its middle."""
        text, role = self._shown
        return [[(with_short_paths(text, width), role)]]


@runtime_checkable
class FirstDrawn(Protocol):
    """An app that waits for its screens to be complete."""

    def first_drawn(self, screen: Screen[None]) -> None:
        """A screen is complete for the first time."""


class AnsweringScreen(Screen[None]):
    """A screen with a message line, `#message`."""

    help_place: ClassVar[str] = "picker"
    """Whose keys the help explains: a name in `screens.help.PLACES`."""
    _first = True

    @property
    def is_current(self) -> bool:
        """Whether it can be seen: it is on top, or only boxes lie on it.

        Textual also counts one that a whole screen covers, and would have it drawn below.
        """
        stack = self.app.screen_stack
        return self in stack and all(
            isinstance(above, ModalScreen) for above in stack[stack.index(self) + 1 :]
        )

    def on_screen_resume(self) -> None:
        """Take note of the terminal's size: it may have changed while another screen lay on top."""
        self.post_message(Resize(self.app.size, self.app.size))

    def own_costs(self) -> list[tuple[str, str]]:
        """What this program itself takes, for the help; empty where that is not known."""
        return []

    def drawn(self) -> None:
        """Tell the app that all there is to show is there."""
        if self._first and isinstance(self.app, FirstDrawn):
            self._first = False
            self.app.first_drawn(self)

    def say(self, text: str, role: Role = "warning", stays_s: float = STAYS_S) -> None:
        """Answer in the message line."""
        self.query_one("#message", MessageLine).say(text, role, stays_s)
