"""One GPU: when each of its metrics is due, what it refused, and what it said last."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from ..timeline import Gpu
from .driver import LOST, RESET_REQUIRED, Driver, DriverError, Kind
from .metrics import METRICS
from .pace import Pace
from .question import Metric, Question, Tier, Values, Way

_IDENTITY = ("uuid", "name")
"""What stays of a GPU that no longer answers."""
_EARLY = 0.1
"""A metric due within this share of the fast tier is asked now rather than a round later."""


@dataclass(slots=True)
class _Standing:
    """Where a GPU stands with one metric."""

    way: int = 0
    due_s: float = -math.inf
    failures: int = 0
    denied: bool = False
    notes: dict[str, Any] = field(default_factory=dict)


class Device:
    """Asks one GPU; used by the thread that asks the driver."""

    def __init__(
        self, index: int, driver: Driver, pace: Pace, scale: float, clock: Callable[[], float]
    ) -> None:
        self._index = index
        self._driver = driver
        self._pace = pace
        self._scale = scale
        self._clock = clock
        self._handle: Any = None
        self._look_again_s = -math.inf
        self._known: Values = {}
        self._standings = {metric.name: _Standing() for metric in METRICS}
        self._gone: str | None = None

    @property
    def gpu(self) -> Gpu:
        """What is known of it now."""
        return Gpu(index=self._index, **self._known)

    @property
    def trouble(self) -> str | None:
        """What is wrong with it, in one line."""
        if self._gone is not None:
            return self._gone
        denied = [metric.name for metric in METRICS if self._standings[metric.name].denied]
        return f"GPU {self._index}: no permission to read {', '.join(denied)}" if denied else None

    def sample(self, stopping: Callable[[], bool]) -> bool:
        """Ask what is due; whether anything was."""
        now = self._clock()
        if self._handle is None and (now < self._look_again_s or not self._find(now)):
            return False
        early_s = _EARLY * self._period_s(Tier.FAST)
        kinds: list[Kind | None] = []
        for metric in METRICS:
            if stopping():
                return False
            if self._standings[metric.name].due_s > now + early_s:
                continue
            try:
                kinds.append(self._ask(metric, now))
            except DriverError as error:
                self._lose(error, now)
                return True
        if len(kinds) > 1 and all(kind is Kind.UNKNOWN for kind in kinds):
            self._lose(DriverError(Kind.UNKNOWN, "unknown error"), now)
        return bool(kinds)

    def _period_s(self, tier: Tier) -> float:
        return tier.value * self._scale

    def _find(self, now: float) -> bool:
        """Look the GPU up; never used is a handle from a look-up that failed or from before it was lost."""
        try:
            self._handle = self._driver.call("nvmlDeviceGetHandleByIndex", self._index)
        except DriverError as error:
            self._lose(error, now)
            return False
        self._gone = None
        for metric in METRICS:
            standing = self._standings[metric.name]
            if standing.way < len(metric.ways):
                standing.due_s, standing.failures = -math.inf, 0
                standing.notes.clear()
        return True

    def _lose(self, error: DriverError, now: float) -> None:
        self._handle = None
        self._look_again_s = now + self._period_s(Tier.SLOW)
        self._known = {name: self._known.get(name) for name in _IDENTITY}
        self._gone = _what_happened(self._index, error)

    def _ask(self, metric: Metric, now: float) -> Kind | None:
        """Ask by the best way that is left; what went wrong. DriverError where the whole GPU is lost."""
        standing = self._standings[metric.name]
        while standing.way < len(metric.ways):
            way = metric.ways[standing.way]
            try:
                self._known.update(self._answer(metric, way, standing, now))
            except DriverError as error:
                if error.kind is Kind.LOST:
                    raise
                self._blank(metric.fields)
                if error.kind in (Kind.UNSUPPORTED, Kind.NO_PERMISSION):
                    self._refuse(metric, standing, error.kind)
                    continue
                if error.kind is not Kind.UNREADABLE:
                    self._ask_again(way, standing, now)
                return error.kind
            standing.failures = 0
            standing.denied = False
            return None
        return Kind.UNSUPPORTED

    def _answer(self, metric: Metric, way: Way, standing: _Standing, now: float) -> Values:
        """One asking, after which the next is due when the driver's load allows it."""
        wanted_s = self._period_s(way.tier)
        question = Question(self._driver, self._handle, self._known, wanted_s, standing.notes, self._clock)
        spent_s = self._driver.meter.spent_s
        standing.due_s = now + wanted_s
        try:
            return way.ask(question)
        finally:
            if way.tier is not Tier.ONCE:
                key = (self._index, metric.name)
                self._pace.note(key, wanted_s, self._driver.meter.spent_s - spent_s)
                standing.due_s = now + self._pace.period_s(key)

    def _refuse(self, metric: Metric, standing: _Standing, kind: Kind) -> None:
        """Never ask this way again."""
        standing.way += 1
        standing.denied = standing.denied or kind is Kind.NO_PERMISSION
        standing.notes.clear()
        standing.due_s = math.inf
        self._pace.forget((self._index, metric.name))

    def _ask_again(self, way: Way, standing: _Standing, now: float) -> None:
        """The more often it fails the later, but never later than the slow tier."""
        standing.failures += 1
        slow_s = self._period_s(Tier.SLOW)
        wanted_s = min(self._period_s(way.tier) * 2.0 ** min(standing.failures - 1, 16), slow_s)
        standing.due_s = max(now + wanted_s, min(standing.due_s, now + slow_s))

    def _blank(self, fields: Collection[str]) -> None:
        for name in fields:
            self._known[name] = None


def _what_happened(index: int, error: DriverError) -> str:
    if error.code == LOST:
        return (
            f"GPU {index} is lost: it no longer answers on the bus. `dmesg` has the Xid error; "
            "heat, power and a loose card are the usual causes, a reboot brings it back."
        )
    if error.code == RESET_REQUIRED:
        return f"GPU {index} must be reset: `nvidia-smi --gpu-reset -i {index}`, or reboot."
    if error.kind is Kind.NO_PERMISSION:
        return f"GPU {index}: no permission to read it."
    if error.kind is Kind.UNKNOWN:
        return (
            f"GPU {index} answers everything with `unknown error`: a container may have lost its access "
            "to the device (restart it); outside of one, see `dmesg` for Xid errors."
        )
    return f"GPU {index} cannot be read: {error}."
