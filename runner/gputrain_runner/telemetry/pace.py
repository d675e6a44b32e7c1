"""How often each question may be asked, so that all of them together stay a light load on the driver."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from threading import Lock

TOTAL = 0.008
"""The share of wall time that all driver calls paced together may take; with what a busy machine adds to
each, they are to stay under 0.01."""
EACH = 0.005
"""The share that one metric may take, over all GPUs."""

_REMEMBERED = 8
_PROVEN = 2
"""So many answers tell what a question costs; one alone may have come while the machine was busy starting."""
_UNPROVEN_S = 5.0
"""Until then it waits no longer than this."""


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
            proven = [question for question in self._costs if self._is_proven(question)]
            load = sum(self._cost_s(question) / self._alone_s(question) for question in proven)
            self._stretch = max(1.0, load / TOTAL)

    def period_s(self, question: Hashable) -> float:
        """Seconds from one asking to the next."""
        with self._lock:
            return self._alone_s(question) * self._stretch

    def _alone_s(self, question: Hashable) -> float:
        wanted_s, afforded_s = self._wanted_s[question], self._cost_s(question) * self.gpus / EACH
        if not self._is_proven(question):
            afforded_s = min(afforded_s, _UNPROVEN_S)
        return max(wanted_s, afforded_s)

    def _is_proven(self, question: Hashable) -> bool:
        return len(self._costs[question]) >= _PROVEN

    def _cost_s(self, question: Hashable) -> float:
        return min(self._costs[question])
