"""Checks of the host's memory: what is left, /dev/shm for loader workers, what may be locked."""

from __future__ import annotations

import math

from ..facts import Facts
from ..unit import NOT_TOLD, Result, Unit, note, ok, problem
from ..words import memory

_MIB, _GIB = 2**20, 2**30


def _left(facts: Facts) -> Result | None:
    left, total = facts.host.memory_left_bytes, facts.host.memory_total_bytes
    if left is None or total is None:
        return NOT_TOLD
    said = f"{memory(left)} of {memory(total)} left"
    if left < _GIB:
        return problem(
            f"{said}: too little for PyTorch and its data",
            "end other programs, or give the container or job more memory",
        )
    if left < 4 * _GIB:
        return note(f"{said}: image presets with loader workers may need more", "end other programs")
    return ok(said)


def _shared(facts: Facts) -> Result | None:
    total, left = facts.host.shared_memory_bytes, facts.host.shared_memory_left_bytes
    if total is None or left is None:
        return None
    said = f"/dev/shm has {memory(left)} of {memory(total)} left"
    if left >= _GIB:
        return ok(said)
    grow = "docker: --shm-size=8g or --ipc=host" if facts.surroundings.container else "free it or enlarge it"
    do = f"{grow} (`sudo mount -o remount,size=8G /dev/shm`), or use no loader workers"
    said += ": loader workers hand their batches over through it"
    # 64 MiB is what Docker gives; two batches of images for each worker do not fit in there.
    return problem(said, do) if left < 128 * _MIB else note(said, do)


def _locked(facts: Facts) -> Result | None:
    limit = facts.host.locked_memory_limit_bytes
    if limit is None or not facts.has_gpu:
        return None
    if math.isinf(limit):
        return ok("no limit (`ulimit -l`)")
    said = f"{memory(limit)} may be locked (`ulimit -l`)"
    if facts.surroundings.wsl:
        return note(
            f"{said}; on WSL pinned memory is limited too: large pinned batches may be refused",
            "use the data path `host` or `resident` where pinning fails",
        )
    return ok(f"{said}; CUDA's pinned memory does not count, InfiniBand's does")


UNITS = (
    Unit("memory_left", "memory left", _left),
    Unit("shared_memory", "shared memory", _shared),
    Unit("pinned_memory", "pinned memory", _locked),
)
