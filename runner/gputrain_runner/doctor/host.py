"""Gathers what the checks of the host look at."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from ..machine import host_facts
from ..paths import sessions_folder
from .facts import HostFacts

_SHARED_MEMORY = Path("/dev/shm")


def look_at_host() -> HostFacts:
    """What is known of it; asks neither PyTorch nor a driver."""
    left, total = _memory()
    shared = _space(_SHARED_MEMORY)
    recordings = sessions_folder()
    there = _nearest(recordings)
    space = _space(there)
    return HostFacts(
        host=host_facts(),
        cores_installed=os.cpu_count(),
        cores_by_affinity=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        load=_load(),
        memory_left_bytes=left,
        memory_total_bytes=total,
        shared_memory_bytes=shared[0] if shared else None,
        shared_memory_left_bytes=shared[1] if shared else None,
        locked_memory_limit_bytes=_locked_memory_limit(),
        recordings=recordings,
        recordings_writable=there.is_dir() and os.access(there, os.W_OK | os.X_OK),
        recordings_left_bytes=space[1] if space else None,
    )


def _memory() -> tuple[int | None, int | None]:
    """Bytes left and in all, of the machine or of what the control group may use of it."""
    from ..telemetry.host_load import HostLook  # Imports psutil.

    load = HostLook(time.monotonic, time.process_time).now(None)
    used, total = load.memory_used_bytes, load.memory_total_bytes
    return (None if used is None or total is None else max(0, total - used)), total


def _space(folder: Path) -> tuple[int, int] | None:
    """Bytes in all and left to this user on a folder's file system."""
    try:
        space = shutil.disk_usage(folder)
    except OSError:
        return None
    return space.total, space.free


def _nearest(folder: Path) -> Path:
    """The folder itself, or the nearest above it that exists: what is missing would be made there."""
    return next((path for path in (folder, *folder.parents) if _exists(path)), folder)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # It may not even be looked for.
        return False


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return None


def _locked_memory_limit() -> float | None:
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return float("inf") if soft == resource.RLIM_INFINITY else float(soft)
