"""Where a training ends by itself: after so many steps, epochs or seconds."""

from __future__ import annotations

import time

from ..protocol import Start
from .sample_order import SampleOrder


class Limits:
    """The limits of a training, and how long it trains already."""

    def __init__(self, start: Start) -> None:
        self._steps, self._epochs, self._seconds = start.steps, start.epochs, start.seconds
        self._left_out_s = 0.0
        self._began = time.monotonic()

    def begin(self) -> float:
        """The first step begins; the time of it."""
        self._began = time.monotonic()
        return self._began

    def leave_out(self, seconds: float) -> None:
        """So much of the time was no training: compiling, capturing, probing."""
        self._left_out_s += seconds

    def trained_s(self, at: float) -> float:
        """Seconds from the first step's beginning to `at`, without what was left out."""
        return at - self._began - self._left_out_s

    def time_is_up(self) -> bool:
        """Whether the seconds are over."""
        return self._seconds is not None and self.trained_s(time.monotonic()) >= self._seconds

    def reached(self, step: int, order: SampleOrder) -> bool:
        """Whether it ends after `step` steps, at that place in the data.

        Where the last step is an epoch's last, that epoch comes to its end first.
        """
        if self._steps is not None and step >= self._steps:
            return not order.exhausted
        return self._epochs is not None and order.epochs >= self._epochs
