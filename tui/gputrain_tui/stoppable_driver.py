"""Textual's driver for terminals, made to survive being stopped from outside.

Textual expects SIGCONT only after its own ctrl+z. After a plain SIGSTOP it would start a second pair of
threads beside the first, and the program would never end.
"""

from __future__ import annotations

from typing import Any

from textual.drivers.linux_driver import LinuxDriver


class StoppableDriver(LinuxDriver):
    """Leaves the terminal's application mode before it enters it again."""

    _continuing = False

    def _sigcont_application(self, *arguments: Any) -> None:
        if getattr(self._app, "leaving", False):
            return
        if self._continuing:
            return  # Stopped again while it was coming back: that goes on where it was.
        self._continuing = True
        try:
            if self._auto_restart and not self._must_signal_resume:
                self.suspend_application_mode()
                self._must_signal_resume = True
            super()._sigcont_application(*arguments)
        finally:
            self._continuing = False
