"""What this machine is, as far as it can be told without PyTorch: system, CPU, memory, limits."""

from __future__ import annotations

import math
import os
import platform
from pathlib import Path

from .telemetry.cgroup import find_memory_limit
from .telemetry.cores import usable_cores
from .timeline import Host

_ROOT = Path("/")


def host_facts(root: Path = _ROOT) -> Host:
    """The host; what PyTorch and the driver know of it (`torch`, `cuda`, `cudnn`, `driver`) is null.

    Args:
        root: where `/proc` and `/sys` are looked for.
    """
    return Host(
        os=_system(),
        cpu=_cpu_name(root),
        cores=_cores(root),
        memory_bytes=_memory_bytes(root),
        python=platform.python_version(),
        over_ssh=any(os.environ.get(name) for name in ("SSH_CONNECTION", "SSH_TTY")),
    )


def _system() -> str:
    kernel = f"{platform.system()} {platform.release()}".strip()
    try:
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']} ({kernel})"
    except (OSError, KeyError):
        return kernel


def _cpu_name(root: Path) -> str | None:
    for line in _read(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name" and value.strip():
            return " ".join(value.split())
    return platform.processor() or platform.machine() or None


def _cores(root: Path) -> int | None:
    """Logical cores this process may use, whole ones."""
    cores = usable_cores(root)
    return None if cores is None else max(1, math.ceil(cores))


def _memory_bytes(root: Path) -> int:
    """Memory this process may use: the host's, or less where its control groups allow less."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        import psutil

        installed = int(psutil.virtual_memory().total)
    limit = find_memory_limit(root / "sys/fs/cgroup", root / "proc/self/cgroup")
    used_and_limit = None if limit is None else limit.read()
    return installed if used_and_limit is None else min(installed, used_and_limit[1])


def _read(path: Path) -> str:
    """The file's text without the white space around it; empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
