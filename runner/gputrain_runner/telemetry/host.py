"""The thread that reads the host: its CPU and memory, the worker's and this program's own."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Event

from ..hardware import HostLoad

_log = logging.getLogger(__name__)

_FIRST_S = 0.25
"""The second look comes early: utilisations need two."""


class HostSampler:
    """Looks at the host once in a while and publishes what it saw."""

    def __init__(self, interval_s: float, stop: Event, clock: Callable[[], float]) -> None:
        self._interval_s = interval_s
        self._stop = stop
        self._clock = clock
        self._watched: int | None = None
        self.load = HostLoad()
        """What was published last; replaced as a whole, so it may be read at any time."""
        self.members: frozenset[int] = frozenset()
        """The worker's process and those it started, as last seen."""

    def watch(self, pid: int | None) -> None:
        """The process that is the worker from the next look on."""
        self._watched = pid
        self.members = frozenset() if pid is None else frozenset({pid})

    def run(self) -> None:
        """The thread's work, until it is stopped."""
        try:
            # Here and no earlier: this imports psutil, and the first frame does not wait for that.
            from .host_load import HostLook

            look = HostLook(self._clock, time.process_time)
        except Exception:
            _log.debug("The host cannot be read", exc_info=True)
            return
        pause_s = min(_FIRST_S, self._interval_s)
        while not self._stop.is_set():
            try:
                watched = self._watched
                self.load = look.now(watched)
                if watched == self._watched:
                    self.members = look.members
            except Exception:
                # Unknown until the next look; there is no place on the screen for it.
                _log.debug("Reading the host failed", exc_info=True)
                self.load = HostLoad()
            self._stop.wait(pause_s)
            pause_s = self._interval_s
