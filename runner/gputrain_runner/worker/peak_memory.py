"""The most memory a device was asked for since a moment: of its allocator, on a CPU of this process."""

from __future__ import annotations

import contextlib
from pathlib import Path

import torch

try:
    import resource
except ImportError:  # Not a POSIX system.
    resource = None  # type: ignore[assignment]

_RESET_PEAK = "5"
"""What Linux takes for forgetting a process's largest resident set."""


def forget(device: torch.device) -> None:
    """Measure from now on, where the system can begin anew; else from the process's start."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        return
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def peak_bytes(device: torch.device) -> int | None:
    """The largest amount since then; on a CPU the resident set, PyTorch itself included."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None if resource is None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
