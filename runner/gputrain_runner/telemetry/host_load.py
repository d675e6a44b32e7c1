"""One look at the host after another; utilisations are over the time since the last look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psutil

from ..hardware import HostLoad
from .cgroup import find_memory_limit
from .cores import usable_core_numbers, usable_cores
from .cpu_times import CpuTimes, CpuUse
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
        self._usable_cores = usable_cores()
        self._cpu = CpuTimes(usable_core_numbers())
        self._last_own: tuple[float, float] | None = None

    def now(self, worker_pid: int | None) -> HostLoad:
        """What the host does now; what cannot be read, or needs a second look, is None."""
        unknown: tuple[int | None, int | None] = (None, None)
        used, total = _or(self._memory, unknown)
        worker = self._worker(worker_pid)
        cpu = _or(self._cpu.use, CpuUse())
        own = self._own()
        return HostLoad(
            cpu_utilisation=_rounded(cpu.utilisation),
            memory_used_bytes=used,
            memory_total_bytes=total,
            worker_cpu_utilisation=_rounded(worker.cpu_cores),
            worker_rss_bytes=worker.rss_bytes,
            screen_cpu_utilisation=_rounded(own),
            busiest_core_utilisation=_rounded(cpu.busiest),
            iowait=_rounded(cpu.iowait),
            others_cpu_utilisation=_rounded(self._others(cpu, worker, own)),
            usable_cores=self._usable_cores,
            worker_processes=worker.processes,
        )

    @property
    def members(self) -> frozenset[int]:
        """The worker's process and those it started, as last seen."""
        return self._tree.members if self._tree is not None else frozenset()

    def _others(self, cpu: CpuUse, worker: Usage, own: float | None) -> float | None:
        """Cores' worth used by neither worker nor this program. Where there is a worker, it must be known."""
        if cpu.busy_cores is None or own is None:
            return None
        if self._tree is not None and worker.cpu_cores is None:
            return None
        return max(0.0, cpu.busy_cores - (worker.cpu_cores or 0.0) - own)

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


def _rounded(value: float | None) -> float | None:
    """To what the counters resolve; more digits would only fill the recording."""
    return None if value is None else round(value, 4)
