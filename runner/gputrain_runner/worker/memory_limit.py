"""A bound on the host's memory, so that asking for too much fails instead of being killed for it.

Linux grants memory it does not have and kills a process once the pages are touched, with everything
that process knew. Under RLIMIT_DATA the request itself fails, as it does on a GPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil

try:
    import resource
except ImportError:  # Not a POSIX system.
    resource = None  # type: ignore[assignment]

RESERVE = 0.08
"""The share of the available memory that is left to everyone else."""


@contextlib.contextmanager
def bounded_memory(device: str) -> Iterator[None]:
    """While inside, this process may take no more memory than the host has available.

    Only for training on the CPU: a CUDA context reserves far more address space than it uses.
    """
    used = _data_bytes()
    if resource is None or device != "cpu" or used is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = used + int(available_memory_bytes() * (1 - RESERVE))
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def available_memory_bytes() -> int:
    """What this process could still get: of the machine, and of its control group if that is less."""
    available = int(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit = int((group / "memory.max").read_text())  # "max" where there is none.
        used = int((group / "memory.current").read_text())
    except (OSError, ValueError):
        return available
    return min(available, max(limit - used, 0))


def _data_bytes() -> int | None:
    """What the kernel counts against RLIMIT_DATA for this process; None where it cannot be told."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
