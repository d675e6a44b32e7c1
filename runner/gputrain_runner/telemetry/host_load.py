"""One look at the host after another; utilisations are over the time since the last look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psutil

from ..timeline import HostLoad
from .cgroup import find_memory_limit
from .processes import ProcessTree, Usage

_T = TypeVar("_T")


class HostLook:
    """Keeps what is needed to tell from counters what happened since the last look."""

    def __init__(self, clock: Callable[[], float], own_cpu_s: Callable[[], float]) -> None:
        """`own_cpu_s`: seconds of CPU time that this process has used."""
        self._clock = clock
        self._own_cpu_s = own_cpu_s
        self._limit = find_memory_limit()
        self._tree: ProcessTree | None = None
        self._watched: int | None = None
        self._last_cpu: tuple[float, float] | None = None
        self._last_own: tuple[float, float] | None = None

    def now(self, worker_pid: int | None) -> HostLoad:
        """What the host does now; what cannot be read, or needs a second look, is None."""
        unknown: tuple[int | None, int | None] = (None, None)
        used, total = _or(self._memory, unknown)
        worker = self._worker(worker_pid)
        return HostLoad(
            cpu_utilisation=_or(self._cpu, None),
            memory_used_bytes=used,
            memory_total_bytes=total,
            worker_cpu_utilisation=worker.cpu_cores,
            worker_rss_bytes=worker.rss_bytes,
            screen_cpu_utilisation=self._own(),
        )

    def _cpu(self) -> float | None:
        """Share of all cores' time that was not idle, 0..1; waiting for a disk is idle."""
        times = psutil.cpu_times()
        idle = float(times.idle + getattr(times, "iowait", 0.0))
        # On Linux a guest's time is in the user's already.
        guests = float(getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0))
        total = float(sum(times)) - guests
        last, self._last_cpu = self._last_cpu, (idle, total)
        if last is None or total <= last[1]:
            return None
        return min(1.0, max(0.0, 1.0 - (idle - last[0]) / (total - last[1])))

    def _memory(self) -> tuple[int | None, int | None]:
        """Bytes used and in all, of the machine or of what the control group may use of it."""
        memory = psutil.virtual_memory()
        total = int(memory.total)
        group = self._limit.read() if self._limit is not None else None
        if group is not None and group[1] < total:
            return group
        return total - int(memory.available), total

    def _worker(self, pid: int | None) -> Usage:
        if pid != self._watched:
            self._watched = pid
            self._tree = None if pid is None else ProcessTree(pid, self._clock)
        return Usage() if self._tree is None else _or(self._tree.usage, Usage())

    def _own(self) -> float | None:
        now = (self._clock(), self._own_cpu_s())
        last, self._last_own = self._last_own, now
        if last is None or now[0] <= last[0]:
            return None
        return (now[1] - last[1]) / (now[0] - last[0])


def _or(read: Callable[[], _T], otherwise: _T) -> _T:
    """What could be read; one source that fails leaves the others."""
    try:
        return read()
    except (psutil.Error, OSError, ValueError, AttributeError):
        return otherwise
