"""ctrl+c, SIGTERM and SIGHUP while a run goes on: the first asks it to end well, the third ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_ENDS_AT = 3
"""So many signals end the program at once: who presses ctrl+c twice wants it to end, not to lose all."""


class Interruption:
    """While it is entered, the first signal is noted, one more passes, the third ends the program at once.

    A signal that was ignored when the program was started (nohup, a shell's background job) stays so.
    Enter it in the main thread.
    """

    def __init__(self) -> None:
        self._at_kill: list[Callable[[], None]] = []
        self._before: dict[int, object] = {}
        self._came = 0
        self.signal: int | None = None
        """The first signal that came."""

    @property
    def exit_code(self) -> int:
        """What a program ended by that signal exits with: 130 for ctrl+c."""
        return 128 + (self.signal or 0)

    def on_kill(self, act: Callable[[], None]) -> None:
        """Have this done, after what was named before, where signals end the program."""
        self._at_kill.append(act)

    def __enter__(self) -> Interruption:
        for name in _NAMES:
            number = getattr(signal, name, None)  # Windows has no SIGHUP.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self._came += 1
        if self.signal is None:
            self.signal = number
        if self._came < _ENDS_AT:
            return
        for act in self._at_kill:
            act()
        os._exit(128 + number)
