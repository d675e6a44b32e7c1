"""How much time this program spends inside driver calls: they share a lock with the training."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

WINDOW_S = 10.0
_BIN_S = 0.5
_SHORTEST_S = 1.0
"""A rate over less than this would only tell how long initialising took."""


class Meter:
    """Time inside calls, over a sliding window. One thread calls, any thread reads.

    The time is what the caller waited, so it includes waiting for Python's own lock after a call:
    an upper bound of the driver's part.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = Lock()
        self._bins: deque[tuple[float, float]] = deque()
        self._first_s: float | None = None
        self._calling_since: float | None = None
        self.spent_s = 0.0
        """Seconds inside calls since the beginning."""
        self.calls = 0
        """How many there were."""

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Count what happens inside as one driver call."""
        began = self._clock()
        if self._first_s is None:
            self._first_s = began
        self._calling_since = began
        try:
            yield
        finally:
            ended = self._clock()
            self._calling_since = None
            self._add(ended, ended - began)

    def ms_per_s(self) -> float | None:
        """Milliseconds inside calls per second of wall time, one in flight included; None before the first.

        The window is the last `WINDOW_S` seconds, or all the time since the first call if that is shorter.
        """
        now = self._clock()
        with self._lock:
            if self._first_s is None:
                return None
            window_s = min(max(now - self._first_s, _SHORTEST_S), WINDOW_S)
            spent = sum(spent for begun, spent in self._bins if begun > now - window_s)
        since = self._calling_since
        if since is not None:
            spent += now - since
        return 1000.0 * min(spent, window_s) / window_s

    def _add(self, ended: float, seconds: float) -> None:
        with self._lock:
            self.spent_s += seconds
            self.calls += 1
            begun, spent = self._bins[-1] if self._bins else (ended, 0.0)
            if self._bins and ended - begun < _BIN_S:
                self._bins[-1] = (begun, spent + seconds)
            else:
                self._bins.append((ended, seconds))
            while self._bins[0][0] < ended - WINDOW_S:
                self._bins.popleft()
