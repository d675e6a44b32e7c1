"""Leaving when a signal says so: terminal restored and recording completed, whatever state the link is in.

Plain `signal.signal` handlers: asyncio's own never run again once the event loop hangs in a write to a
frozen terminal. A watchdog thread ends the program where the loop does not.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .app import GpuTrainApp

CAUGHT = ("SIGHUP", "SIGTERM", "SIGINT")
GRACE_S = 1.5
"""How long the app may take to leave by itself."""


class ExitSignals:
    """Catches the signals that end a program, from its making until `left`."""

    def __init__(self, last_acts: Callable[[], None]) -> None:
        """`last_acts` completes what must be completed; called by the watchdog, if it comes to that."""
        self._last_acts = last_acts
        self._app: GpuTrainApp | None = None
        self._left = threading.Event()
        self.caught: int | None = None
        """The first signal that came."""
        for name in CAUGHT:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._handle)

    def watch(self, app: GpuTrainApp) -> None:
        """From now on, leave through the app."""
        self._app = app

    def left(self) -> None:
        """The program is on its way out: the watchdog may rest."""
        self._left.set()

    def _handle(self, signum: int, _frame: FrameType | None) -> None:
        if self.caught is not None:
            return
        self.caught = signum
        app = self._app
        if hasattr(signal, "SIGTTOU"):
            # A program that was suspended may put the terminal right from the background.
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        if app is not None:
            app.leaving = True
        if app is None or app.loop is None:
            raise SystemExit(128 + signum)
        threading.Thread(target=self._watchdog, args=(signum,), name="exit watchdog", daemon=True).start()
        with contextlib.suppress(RuntimeError):  # The loop has ended: the app is leaving already.
            app.loop.call_soon_threadsafe(app.action_leave, 128 + signum)

    def _watchdog(self, signum: int) -> None:
        if not self._left.wait(GRACE_S):
            with contextlib.suppress(Exception):
                self._last_acts()
            os._exit(128 + signum)
