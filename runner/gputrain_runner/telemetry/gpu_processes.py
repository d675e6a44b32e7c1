"""Which processes have something on a GPU: theirs told from ours, rows that cannot be left out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..hardware import GpuProcess
from .driver import DriverError, Kind
from .question import Ask, Question, Values

FIELDS = ("processes", "memory_ours_bytes", "memory_others_bytes")

_PROC = Path("/proc")
_MOST_PIDS = 2**22 if sys.platform.startswith("linux") else 2**32 - 2
"""Linux counts no further; what lies beyond comes from a driver with another idea of the row's size."""
_MOST_BYTES = 2**50


def ask(version: str) -> Ask:
    """By the functions of this version ("_v3", "_v2"); their rows differ in size."""

    def from_driver(question: Question) -> Values:
        rows = list(_rows(question, f"nvmlDeviceGetComputeRunningProcesses{version}"))
        if not question.notes.get("computes_only"):
            try:
                rows += _rows(question, f"nvmlDeviceGetGraphicsRunningProcesses{version}")
            except DriverError as error:
                if error.kind not in (Kind.UNSUPPORTED, Kind.NO_PERMISSION):
                    raise
                question.notes["computes_only"] = True
        return _told(rows, question)

    return from_driver


def _rows(question: Question, function: str) -> Iterable[Any]:
    rows: Iterable[Any] = question.driver.call(function, question.handle)
    return rows


def _told(rows: Iterable[Any], question: Question) -> Values:
    """The processes, and what ours and the others' memory comes to; None where a row cannot be read.

    Those of the other rows are told still, but where there are none, that is not known to be all.
    """
    total = question.known.get("memory_total_bytes") or _MOST_BYTES
    names: dict[int, str | None] = question.notes.setdefault("names", {})
    found: dict[int, int | None] = {}
    whole = True
    for row in rows:
        pid, used = int(row.pid), row.usedGpuMemory
        if not 0 < pid <= _MOST_PIDS or (used is not None and not 0 <= used <= total):
            whole = False
            continue
        # One that computes and draws is in both lists, each with all of its memory.
        before = found.get(pid)
        found[pid] = before if used is None else max(int(used), before or 0)
    for pid in found.keys() - names.keys():
        names[pid] = _name(pid)
    for pid in names.keys() - found.keys():
        del names[pid]
    processes = [
        GpuProcess(pid=pid, name=names[pid], memory_bytes=used, ours=_is_ours(pid, question.ours))
        for pid, used in sorted(found.items())
    ]
    return {
        "processes": processes if processes or whole else None,
        "memory_ours_bytes": _sum(processes, True) if whole else None,
        "memory_others_bytes": _sum(processes, False) if whole else None,
    }


def _sum(processes: Iterable[GpuProcess], ours: bool) -> int | None:
    sizes = [process.memory_bytes for process in processes if process.ours in (ours, None)]
    unknown = any(process.ours is None for process in processes)
    return None if unknown or None in sizes else sum(size for size in sizes if size is not None)


def _is_ours(pid: int, ours: frozenset[int]) -> bool | None:
    if pid in ours:
        return True
    return None if sys.platform.startswith("linux") and not (_PROC / str(pid)).exists() else False


def _name(pid: int) -> str | None:
    """The program's name; None where the process has just ended or lies outside of this container."""
    try:
        return (_PROC / str(pid) / "comm").read_text(errors="replace").strip() or None
    except OSError:
        return _name_elsewhere(pid)


def _name_elsewhere(pid: int) -> str | None:
    if sys.platform.startswith("linux"):
        return None
    import psutil

    try:
        return str(psutil.Process(pid).name()) or None
    except psutil.Error:
        return None
