"""A bound on the host's memory, so that asking for too much fails instead of being killed for it.

Linux grants memory it does not have and kills a process once the pages are touched, with everything
that process knew. Under RLIMIT_DATA the request itself fails, as it does on a GPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


from ..machine import available_memory_bytes

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


def _data_bytes() -> int | None:
    """What the kernel counts against RLIMIT_DATA for this process; None where it cannot be told."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
