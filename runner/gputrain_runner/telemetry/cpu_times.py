"""What the host's cores did since the last look, from the system's counters of CPU time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import psutil


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Shares 0..1 and cores' worth; None where not known."""

    utilisation: float | None = None
    """Of all cores' time; waiting for a disk is idle."""
    busiest: float | None = None
    """Of the busiest core."""
    iowait: float | None = None
    busy_cores: float | None = None
    """Cores' worth of CPU time used, by all processes of the host together."""


@dataclass(frozen=True, slots=True)
class _Core:
    """Seconds since the system started."""

    total: float
    idle: float
    iowait: float


class CpuTimes:
    """Keeps the counters of the last look.

    Args:
        usable: which cores count for the busiest; None for all.
        read: the counters per core, as psutil has them.
    """

    def __init__(
        self, usable: frozenset[int] | None, read: Callable[[], Sequence[Any]] | None = None
    ) -> None:
        self._usable = usable
        self._read = read or (lambda: psutil.cpu_times(percpu=True))
        self._last: list[_Core] | None = None

    def use(self) -> CpuUse:
        """What happened since the last look; nothing at the first, and when cores came or went."""
        now = [_core(times) for times in self._read()]
        last, self._last = self._last, now
        if last is None or len(last) != len(now):
            return CpuUse()
        spans = [
            _Core(after.total - before.total, after.idle - before.idle, after.iowait - before.iowait)
            for before, after in zip(last, now, strict=True)
        ]
        total = sum(span.total for span in spans)
        if total <= 0:
            return CpuUse()
        idle = sum(span.idle + span.iowait for span in spans)
        used = _share(1.0 - idle / total)
        return CpuUse(
            utilisation=used,
            busiest=self._busiest(spans),
            iowait=_share(sum(span.iowait for span in spans) / total) if _tells_iowait(now) else None,
            busy_cores=used * len(spans),
        )

    def _busiest(self, spans: Sequence[_Core]) -> float | None:
        shares = [
            _share(1.0 - (span.idle + span.iowait) / span.total)
            for number, span in enumerate(spans)
            if span.total > 0 and (self._usable is None or number in self._usable)
        ]
        return max(shares, default=None)


def _core(times: Any) -> _Core:
    # On Linux a guest's time is in the user's already.
    guests = float(getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0))
    return _Core(float(sum(times)) - guests, float(times.idle), float(getattr(times, "iowait", 0.0)))


def _tells_iowait(cores: Sequence[_Core]) -> bool:
    """A system that does not account it has 0 everywhere, always."""
    return any(core.iowait > 0 for core in cores)


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
