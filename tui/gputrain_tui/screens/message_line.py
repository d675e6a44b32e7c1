"""The line in which the program answers a key, and then falls silent again.

The rule: what was said goes after some seconds, at the next key that acts, and soon after what it was about
is over. What stands (a worker has died, training has finished) is there whenever nothing is said.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from textual.events import Resize
from textual.screen import ModalScreen, Screen

from ..widgets.lines import Lines
from ..widgets.text import Line, Role, with_short_paths

STAYS_S = 6.0
LEAST_S = 2.0
"""What is over sooner is still left to be read for so long."""
LOOK_S = 0.25
"""How often it is looked whether what was said is to go."""


def always() -> bool:
    """What is said holds until its time is over."""
    return True


class MessageLine(Lines):
    """One line: what was said last, as long as the rule says, else what stands."""

    def __init__(self, *, id: str) -> None:
        super().__init__([""], id=id)
        self.clock: Callable[[], float] = time.monotonic
        """Seconds."""
        self._said: tuple[str, Role] | None = None
        self._said_s = 0.0
        self._stays_s = 0.0
        self._holds: Callable[[], bool] = always
        self._stands = ""

    def on_mount(self) -> None:
        """Get ready to look; while nothing is said there is no need to."""
        self._looking = self.set_interval(LOOK_S, self._look, pause=True)

    def say(
        self, text: str, role: Role = "", stays_s: float = STAYS_S, holds: Callable[[], bool] = always
    ) -> None:
        """Show `text` at once, for so long at most, and not much longer than it `holds`."""
        self._said, self._said_s, self._stays_s, self._holds = (text, role), self.clock(), stays_s, holds
        self._looking.resume()
        self.rebuild()

    def hush(self) -> None:
        """Take away what was said."""
        self._looking.pause()
        if self._said is not None:
            self._said = None
            self.rebuild()

    def stand(self, text: str) -> None:
        """What to show while nothing is said; "" for nothing."""
        if text != self._stands or self.is_stale:
            self._stands = text
            self.rebuild()

    def _look(self) -> None:
        shown_s = self.clock() - self._said_s
        if shown_s >= self._stays_s or (shown_s >= LEAST_S and not self._holds()):
            self.hush()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The line; a file's path in it gives way in its middle."""
        standing: tuple[str, Role] = (self._stands, "warning")
        text, role = standing if self._said is None else self._said
        return [[(with_short_paths(text, width), role)]]


@runtime_checkable
class FirstDrawn(Protocol):
    """An app that waits for its screens to be complete."""

    def first_drawn(self, screen: Screen[None]) -> None:
        """A screen is complete for the first time."""


class AnsweringScreen(Screen[None]):
    """A screen with a message line, `#message`."""

    help_place: str = "picker"
    """Whose keys there are, and the help explains: a name in `key_places.PLACES`."""
    shows_training = False
    """Whether it shows what the training below does, and so is where that has its say."""
    press_clock: Callable[[], float] = staticmethod(time.monotonic)
    """Seconds, for keys that must be pressed twice."""
    _first = True
    _asked_for: tuple[str, float] | None = None
    """The key that was pressed once, and when; None where another key acted since."""

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

    @property
    def no_sweep(self) -> str | None:
        """Why no sweep can be begun while this screen is there, and what to do; None where one can."""
        return None

    def drawn(self) -> None:
        """Tell the app that all there is to show is there."""
        if self._first and isinstance(self.app, FirstDrawn):
            self._first = False
            self.app.first_drawn(self)

    def say(
        self,
        text: str,
        role: Role = "warning",
        stays_s: float = STAYS_S,
        holds: Callable[[], bool] = always,
    ) -> None:
        """Answer in the message line; see `MessageLine.say`."""
        self.query_one("#message", MessageLine).say(text, role, stays_s, holds)

    def key_acts(self, action: str) -> None:
        """A key is about to do this: what was said is over, and so is a question that it does not answer."""
        for line in self.query("#message").results(MessageLine):
            line.hush()
        if self._asked_for is not None and self._asked_for[0] != action:
            self._asked_for = None

    def pressed_again(self, action: str, question: str, sure_s: float) -> bool:
        """Whether the key of this action was pressed again soon enough, no other in between; else ask."""
        now = self.press_clock()
        asked, self._asked_for = self._asked_for, None
        if asked is not None and asked[0] == action and now - asked[1] <= sure_s:
            return True
        self._asked_for = (action, now)
        self.say(question, stays_s=sure_s)
        return False
