"""How many cores this process may use: its affinity, and the CPU time its control groups allow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_ROOT = Path("/")


def usable_cores(root: Path = _ROOT) -> float | None:
    """Cores' worth of CPU time this process may use; 2.5 is possible under a quota. None where not known.

    Args:
        root: where `/proc` and `/sys` are looked for.
    """
    there = usable_core_numbers()
    cores: float | None = float(len(there)) if there is not None else os.cpu_count()
    if cores is None:
        return None
    for group in _cpu_groups(root):
        quota, _, period = _read(group / "cpu.max").partition(" ")
        if not quota:
            quota, period = _read(group / "cpu.cfs_quota_us"), _read(group / "cpu.cfs_period_us")
        # "max" (version 2) and -1 (version 1) mean no limit.
        if _is_count(quota) and _is_count(period) and int(quota) and int(period):
            cores = min(cores, int(quota) / int(period))
    return float(cores)


def usable_core_numbers() -> frozenset[int] | None:
    """The logical cores this process may run on; None where the system does not tell."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def _cpu_groups(root: Path) -> Iterator[Path]:
    """The folders of this process's control groups for CPU time, each with all that contain it.

    Version 2 has one hierarchy; version 1 one per controller. In a container the path named in /proc is
    often not mounted; the mount's own root is the container's group then.
    """
    mount = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = mount / "cpu" if controllers else mount
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for depth in range(len(parts), -1, -1):
            yield base.joinpath(*parts[:depth])


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _read(path: Path) -> str:
    """The file's text without the white space around it; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
