"""CPU time and memory of one process and all that it started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

_LOOK_FOR_CHILDREN_S = 5.0
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process and its children use; None where not known."""

    cpu_cores: float | None = None
    """Cores' worth of CPU time since the last look."""
    rss_bytes: int | None = None
    """Resident memory; what they share is counted for each."""
    processes: int | None = None
    """How many they are."""


class ProcessTree:
    """A process with its children, looked at again and again. A process that vanished is no error."""

    def __init__(self, pid: int, clock: Callable[[], float]) -> None:
        self._pid = pid
        self._clock = clock
        self._members: dict[int, psutil.Process] = {}
        self._cpu_s: dict[int, float] = {}
        self._looked_s: float | None = None
        self._last_s: float | None = None

    def usage(self) -> Usage:
        """What they use now; nothing once the process itself is gone."""
        now = self._clock()
        if self._looked_s is None or now - self._looked_s >= _LOOK_FOR_CHILDREN_S:
            # Rarely: it reads something of every thread, on some systems of every process.
            self._looked_s = now
            self._look_for_members()
        seen = {pid: look for pid, process in self._members.items() if (look := _look(process))}
        if self._pid not in seen:
            self._members.clear()
            self._cpu_s.clear()
            return Usage()
        spent_s = sum(max(0.0, cpu_s - self._cpu_s.get(pid, cpu_s)) for pid, (cpu_s, _) in seen.items())
        elapsed_s = None if self._last_s is None else now - self._last_s
        self._last_s = now
        self._cpu_s = {pid: cpu_s for pid, (cpu_s, _) in seen.items()}
        return Usage(
            cpu_cores=spent_s / elapsed_s if elapsed_s else None,
            rss_bytes=sum(rss for _, rss in seen.values()),
            processes=len(seen),
        )

    @property
    def members(self) -> frozenset[int]:
        """The process and those it started, as last seen."""
        return frozenset((self._pid, *self._members))

    def _look_for_members(self) -> None:
        wanted = [self._pid, *_descendants(self._pid)]
        kept = {pid: process for pid in wanted if (process := self._members.get(pid))}
        for pid in wanted:
            try:
                kept.setdefault(pid, psutil.Process(pid))
            except psutil.Error:
                continue
        self._members = {pid: process for pid, process in kept.items() if process.is_running()}


def _look(process: psutil.Process) -> tuple[float, int] | None:
    """Seconds of CPU time and resident bytes; None where it has ended."""
    try:
        with process.oneshot():
            times = process.cpu_times()
            rss = int(process.memory_info().rss)
    except psutil.Error:
        return None
    # One that has ended but was not yet waited for has no memory.
    return (float(times.user + times.system), rss) if rss else None


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        if children is None:
            return _descendants_anywhere(pid)
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int] | None:
    """Linux tells a process's children directly; None where this kernel does not."""
    try:
        texts = [(task / "children").read_text() for task in (_PROC / str(pid) / "task").iterdir()]
    except OSError:
        return None
    return [int(child) for text in texts for child in text.split()]


def _descendants_anywhere(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []
