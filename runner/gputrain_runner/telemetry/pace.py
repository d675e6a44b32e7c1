"""How often each question may be asked, so that all of them together stay a light load on the driver."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from statistics import median_low
from threading import Lock

TOTAL = 0.01
"""The share of wall time that all driver calls paced together may take."""
EACH = 0.008
"""The share that one metric may take, over all GPUs."""

_REMEMBERED = 8


class Pace:
    """Turns wanted periods into allowed ones, by what each question was seen to cost.

    A costly question is asked rarely on its own account, and only when the sum is still too much are
    all of them stretched alike. The cost is the least of the last few: a longer one is this program
    waiting for its turn. Safe for threads.
    """

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        """How many are asked by it."""
        self._costs: dict[Hashable, deque[float]] = {}
        self._wanted_s: dict[Hashable, float] = {}
        self._stretch = 1.0
        self._lock = Lock()

    def note(self, question: Hashable, wanted_s: float, cost_s: float) -> None:
        """Take in what a question that is to be asked every `wanted_s` seconds cost this time."""
        with self._lock:
            self._wanted_s[question] = wanted_s
            self._costs.setdefault(question, deque(maxlen=_REMEMBERED)).append(cost_s)

    def forget(self, question: Hashable) -> None:
        """A question that is no longer asked."""
        with self._lock:
            self._wanted_s.pop(question, None)
            self._costs.pop(question, None)

    def settle(self) -> None:
        """Weigh all questions anew; called once a round."""
        with self._lock:
            load = sum(self._cost_s(question) / self._alone_s(question) for question in self._costs)
            self._stretch = max(1.0, load / TOTAL)

    def period_s(self, question: Hashable) -> float:
        """Seconds from one asking to the next."""
        with self._lock:
            return self._alone_s(question) * self._stretch

    def _alone_s(self, question: Hashable) -> float:
        return max(self._wanted_s[question], self._cost_s(question) * self.gpus / EACH)

    def _cost_s(self, question: Hashable) -> float:
        return median_low(self._costs[question])
