"""One GPU: when each of its metrics is due, what it refused, and what it said last."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..hardware import Gpu, GpuDetail
from ..hardware_words import words
from .driver import LOST, RESET_REQUIRED, Driver, DriverError, Kind
from .metrics import METRICS
from .pace import Pace
from .pcie_link import PLACEHOLDERS
from .question import OVERVIEW_S, Instance, Metric, Question, Tier, Values, Way

_IDENTITY = ("uuid", "name", "pci_bus_id", "compute_capability")
"""What stays of a GPU that no longer answers."""
_EARLY = 0.1
"""A metric due within this share of the fast tier is asked now rather than a round later."""
_DETAIL = frozenset(GpuDetail.__struct_fields__)


@dataclass(frozen=True, slots=True)
class Means:
    """What a GPU is asked with; shared by all that one thread asks."""

    driver: Driver
    pace: Pace
    """Of GPUs in focus."""
    scale: float
    """Periods in proportion to those of `Tier`."""
    clock: Callable[[], float]
    ours: Callable[[], frozenset[int]] = frozenset
    """The worker's processes."""
    overview: Pace | None = None
    """Of GPUs out of focus: a budget of its own, so that they cost those in focus nothing."""


@dataclass(slots=True)
class _Standing:
    """Where a GPU stands with one metric."""

    way: int = 0
    due_s: float = -math.inf
    failures: int = 0
    denied: bool = False
    notes: dict[str, Any] = field(default_factory=dict)

    def forget(self) -> None:
        """Throw the notes away, and give back what they hold of the driver's."""
        notes, self.notes = self.notes, {}
        for note in notes.values():
            close = getattr(note, "close", None)
            if close is not None:
                close()


class Device:
    """Asks one GPU, or one MIG device of it; used by the one thread that asks this GPU."""

    def __init__(
        self,
        index: int,
        means: Means,
        metrics: Sequence[Metric] = METRICS,
        mig: int | None = None,
        instance: Instance | None = None,
        look_up: Callable[[], Any] | None = None,
    ) -> None:
        """`look_up` finds the handle; by default by the GPU's index."""
        self.index = index
        self.mig = mig
        self.instance = instance
        self.focused = True
        """Whether it is asked at the full rate, rather than for an overview."""
        self.handle: Any = None
        self.known: Values = {}
        """Fields as last answered."""
        self._means = means
        self._metrics = metrics
        self._look_up = look_up or (lambda: means.driver.call("nvmlDeviceGetHandleByIndex", index))
        self._look_again_s = -math.inf
        self._standings = {metric.name: _Standing() for metric in metrics}
        self._shared: dict[str, Any] = {}
        self._gone: str | None = None

    def gpu(self, whole: Gpu | None = None) -> Gpu:
        """What is known of it now; of a MIG device, with what is the whole GPU's."""
        known = dict(self.known)
        if known.get("memory_source") == "host":
            known |= dict.fromkeys(PLACEHOLDERS)
        denied = [name for metric in self._denied() for name in metric.fields]
        detail = {name: known.pop(name) for name in _DETAIL & known.keys()}
        if whole is not None:
            known = {name: getattr(whole, name) for name in OF_WHOLE_GPU} | known
            if whole.detail is not None:
                detail = {name: getattr(whole.detail, name) for name in _DETAIL} | detail
        detail["denied"] = denied
        return Gpu(index=self.index, mig=self.mig, trouble=self.trouble, detail=GpuDetail(**detail), **known)

    @property
    def trouble(self) -> str | None:
        """What is wrong with it, in one line."""
        if self._gone is not None:
            return self._gone
        denied = [name for metric in self._denied() for name in metric.fields]
        return f"GPU {self.index}: no permission to read {words(denied, most=6)}" if denied else None

    def focus(self, focused: bool) -> None:
        """From now on ask at the full rate, or for an overview."""
        if focused == self.focused:
            return
        for metric in self._metrics:
            self._pace.forget(self._key(metric))
        self.focused = focused
        now = self._means.clock()
        for metric in self._metrics:
            standing = self._standings[metric.name]
            if focused and standing.way < len(metric.ways) and math.isfinite(standing.due_s):
                soon_s = now + self._period_s(metric.ways[standing.way].tier)
                standing.due_s = min(standing.due_s, soon_s)

    def sample(self, stopping: Callable[[], bool], between: Callable[[], None] = lambda: None) -> bool:
        """Ask what is due; whether anything was. `between` is called after each answer."""
        now = self._means.clock()
        if self.handle is None and (now < self._look_again_s or not self._find(now)):
            return False
        early_s = _EARLY * self._period_s(Tier.FAST)
        asked = False
        answers: list[Kind | None] = []
        for metric in self._metrics:
            if stopping():
                return False
            if self._standings[metric.name].due_s > now + early_s:
                continue
            asked = True
            calls = self._means.driver.meter.calls
            try:
                kind = self._ask(metric, now)
            except DriverError as error:
                self._lose(error, now)
                return True
            if self._means.driver.meter.calls > calls:
                answers.append(kind)
                between()
        if len(answers) > 1 and all(kind is Kind.UNKNOWN for kind in answers):
            self._lose(DriverError(Kind.UNKNOWN, "unknown error"), now)
        return asked

    def settle(self) -> None:
        """The round is over: weigh what questions cost."""
        self._pace.settle()

    def close(self) -> None:
        """Give back what is held of the driver's; by the thread that asks, and not under a call."""
        for standing in self._standings.values():
            standing.forget()

    def _denied(self) -> list[Metric]:
        return [metric for metric in self._metrics if self._standings[metric.name].denied]

    @property
    def _pace(self) -> Pace:
        return self._means.pace if self.focused else self._means.overview or self._means.pace

    def _key(self, metric: Metric) -> Hashable:
        return self.index, self.mig, metric.name

    def _period_s(self, tier: Tier) -> float:
        return (tier.value if self.focused else max(tier.value, OVERVIEW_S)) * self._means.scale

    def _find(self, now: float) -> bool:
        """Look the GPU up; never used is a handle from a look-up that failed or from before it was lost."""
        try:
            self.handle = self._look_up()
        except DriverError as error:
            self._lose(error, now)
            return False
        self._gone = None
        for metric in self._metrics:
            standing = self._standings[metric.name]
            if standing.way < len(metric.ways):
                standing.due_s, standing.failures = -math.inf, 0
        return True

    def _lose(self, error: DriverError, now: float) -> None:
        self.handle = None
        self._look_again_s = now + self._period_s(Tier.SLOW)
        self.known = {name: self.known.get(name) for name in _IDENTITY}
        self._shared.clear()
        self.close()
        self._gone = _what_happened(self.index, error)

    def _ask(self, metric: Metric, now: float) -> Kind | None:
        """Ask by the best way that is left; what went wrong. DriverError where the whole GPU is lost."""
        standing = self._standings[metric.name]
        while standing.way < len(metric.ways):
            way = metric.ways[standing.way]
            try:
                self.known.update(self._answer(metric, way, standing, now))
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
        meter = self._means.driver.meter
        spent_s = meter.spent_s
        standing.due_s = now + wanted_s
        try:
            return way.ask(self._question(standing, wanted_s))
        finally:
            if way.tier is not Tier.ONCE:
                self._pace.note(self._key(metric), wanted_s, meter.spent_s - spent_s)
                standing.due_s = now + self._pace.period_s(self._key(metric))

    def _question(self, standing: _Standing, every_s: float) -> Question:
        return Question(
            driver=self._means.driver,
            handle=self.handle,
            known=self.known,
            every_s=every_s,
            notes=standing.notes,
            clock=self._means.clock,
            shared=self._shared,
            ours=self._means.ours(),
            instance=self.instance,
        )

    def _refuse(self, metric: Metric, standing: _Standing, kind: Kind) -> None:
        """Never ask this way again."""
        standing.way += 1
        standing.denied = standing.denied or kind is Kind.NO_PERMISSION
        standing.forget()
        standing.due_s = math.inf
        self._pace.forget(self._key(metric))

    def _ask_again(self, way: Way, standing: _Standing, now: float) -> None:
        """The more often it fails the later, but never later than the slow tier."""
        standing.failures += 1
        slow_s = self._period_s(Tier.SLOW)
        wanted_s = min(self._period_s(way.tier) * 2.0 ** min(standing.failures - 1, 16), slow_s)
        standing.due_s = max(now + wanted_s, min(standing.due_s, now + slow_s))

    def _blank(self, fields: Collection[str]) -> None:
        for name in fields:
            self.known[name] = None


OF_WHOLE_GPU = (
    "pcie_generation",
    "pcie_width",
    "pcie_generation_max",
    "pcie_width_max",
    "sm_clock_mhz",
    "sm_clock_max_mhz",
    "memory_clock_mhz",
    "power_w",
    "power_limit_w",
    "temperature_c",
    "memory_temperature_c",
    "throttle",
    "throttled",
    "throttled_s",
    "fan",
    "performance_state",
)
"""What a MIG device shares with the rest of its GPU."""


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
