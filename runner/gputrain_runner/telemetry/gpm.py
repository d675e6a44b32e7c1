"""Hopper's performance counters (GPM): all of a GPU's figures from two snapshots, by one call."""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

from .driver import Driver, DriverError, Kind, failure
from .question import Question, Values

GRAPHICS, SM, OCCUPANCY, TENSOR, DRAM = 1, 2, 3, 5, 10
PCIE_TX, PCIE_RX = 20, 21
NVLINK_RX, NVLINK_TX = 60, 61
"""NVML_GPM_METRIC_*: in percent; from 20 on in MiB/s."""
_SHARES = {
    "graphics_active": GRAPHICS,
    "sm_active": SM,
    "sm_occupancy": OCCUPANCY,
    "tensor_active": TENSOR,
    "dram_active": DRAM,
}
FIELDS = tuple(_SHARES)
_METRICS = (*_SHARES.values(), PCIE_TX, PCIE_RX, NVLINK_TX, NVLINK_RX)

SHARED = "gpm"
"""Where the figures, by metric, lie for others: numbers, or why there is none; None where GPM is refused."""
BYTES_PER_MIB = 2**20

_APART_S = 0.1
"""NVML asks for at least this between two snapshots; closer ones yield 0."""
_METRICS_VERSION = 1

_PATIENCE_S = 0.02
_SILENT_S = 3.0
"""Where the other threads leave no turn for so long, one of them hangs: the figures are not known."""

_one_at_a_time = Lock()
"""NVML crashes where several threads make their first GPM calls at the same time. Hardly waited for: a
driver that hangs under it must not silence the other GPUs."""


class Snapshots:
    """The two snapshots of one GPU, the older replaced each time; they are the driver's memory."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._request = driver.structure("c_nvmlGpmMetricsGet_t")
        self._request.version = _METRICS_VERSION
        self._spare: list[Any] = []
        self._newest: Any = None
        self.taken_s: float | None = None
        """When the newest was taken."""

    def take(self, question: Question) -> bool:
        """Take one; whether there are two now."""
        if not self._spare:
            self._spare.append(self._driver.call("nvmlGpmSampleAlloc"))
        snapshot = self._spare[-1]
        if question.instance is None:
            self._driver.call("nvmlGpmSampleGet", question.handle, snapshot)
        else:
            of = question.instance
            self._driver.call("nvmlGpmMigSampleGet", of.parent, of.gpu_instance, snapshot)
        self._spare.pop()
        self._request.sample1, self._request.sample2 = self._newest, snapshot
        older, self._newest = self._newest, snapshot
        self.taken_s = question.clock()
        if older is None:
            return False
        self._spare.append(older)
        return True

    def compare(self) -> dict[int, float | DriverError]:
        """The figures between the two newest, by metric, each with its own verdict."""
        request = self._request
        request.numMetrics = len(_METRICS)
        for at, metric in enumerate(_METRICS):
            request.metrics[at].metricId = metric
            request.metrics[at].nvmlReturn = 0
            request.metrics[at].value = math.nan
        self._driver.call("nvmlGpmMetricsGet", request)
        return {metric: _figure(request.metrics[at], metric) for at, metric in enumerate(_METRICS)}

    def close(self) -> None:
        """Give the driver its memory back."""
        snapshots = [*self._spare, self._newest]
        self._spare, self._newest, self.taken_s = [], None, None
        for snapshot in snapshots:
            if snapshot is not None:
                try:
                    self._driver.call("nvmlGpmSampleFree", snapshot)
                except DriverError:
                    continue  # It goes with the process.


def from_snapshots(question: Question) -> Values:
    """The means since the last asking. Refused for good before Hopper."""
    try:
        return _ask(question)
    except DriverError as error:
        lost = error.kind in (Kind.UNSUPPORTED, Kind.NO_PERMISSION)
        question.shared[SHARED] = None if lost else {}
        raise


def _ask(question: Question) -> Values:
    now_s = question.clock()
    if not _one_at_a_time.acquire(timeout=_PATIENCE_S):
        if now_s - question.notes.setdefault("turn_s", now_s) > _SILENT_S:
            raise DriverError(Kind.TRANSIENT, "a GPM call of another GPU does not return")
        return {}
    try:
        question.notes["turn_s"] = now_s
        snapshots: Snapshots | None = question.notes.get("snapshots")
        if snapshots is None:
            _check_support(question)
            snapshots = question.notes["snapshots"] = Snapshots(question.driver)
        return _compare(question, snapshots)
    finally:
        _one_at_a_time.release()


def _check_support(question: Question) -> None:
    handle = question.handle if question.instance is None else question.instance.parent
    if not question.driver.call("nvmlGpmQueryDeviceSupport", handle).isSupportedDevice:
        raise DriverError(Kind.UNSUPPORTED, "this GPU has no GPM")


def _compare(question: Question, snapshots: Snapshots) -> Values:
    taken_s = snapshots.taken_s
    if taken_s is not None and question.clock() - taken_s < _APART_S:
        return {}
    if not snapshots.take(question):
        return {}
    figures = snapshots.compare()
    question.shared[SHARED] = figures
    return {field: _share(figures[metric]) for field, metric in _SHARES.items()}


def _figure(answer: Any, metric: int) -> float | DriverError:
    code = int(answer.nvmlReturn)
    return float(answer.value) if code == 0 else failure(code, f"GPM metric {metric}")


def _share(percent: float | DriverError) -> float | None:
    """Of percent, 0..1; a hair above 100 is rounding, more is garbage (and so is NaN)."""
    if isinstance(percent, DriverError) or not 0 <= percent <= 101:
        return None
    return round(min(percent, 100.0) / 100, 4)


def rate(question: Question, metric: int, most_bytes_per_s: float) -> float | None:
    """What the last comparison says of a metric in MiB/s, in bytes per second.

    Raises:
        DriverError: GPM, or this metric of it, is refused: another way is to be taken.
    """
    figures = question.shared.get(SHARED, {})
    if figures is None:
        raise DriverError(Kind.UNSUPPORTED, "this GPU has no GPM")
    figure = figures.get(metric)
    if isinstance(figure, DriverError):
        if figure.kind in (Kind.UNSUPPORTED, Kind.NO_PERMISSION):
            raise DriverError(Kind.UNSUPPORTED, str(figure))
        return None
    if figure is None or not 0 <= figure * BYTES_PER_MIB <= most_bytes_per_s:
        return None
    return float(round(figure * BYTES_PER_MIB))
