"""What is measured of the CPU."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import torch

from ...machine import host_facts
from ..memory_limit import available_memory_bytes
from . import copies, launches, products
from .rounds import PLANNED_ROUNDS, Build, Key, Repeat
from .timing import Room

PRECISIONS = ("fp32", "bf16", "fp16")
_OTHERS = len(PRECISIONS) + 1
"""Quantities beside the products by number of threads."""
_FREE_SHARE = 1 / 16
"""Of the memory that is left, what one quantity may take."""
_LONGEST_S = 0.15
_CACHE_TIMES = 4
_LEAST_CACHE_BYTES = 64 << 20
_CPUS = Path("/sys/devices/system/cpu")


def quantities(device: torch.device, seconds: float) -> dict[Key, Build]:
    """Everything there is to measure of it, in about so many seconds.

    The measuring leaves PyTorch's number of threads as it comes; who calls puts it back.
    """
    cores = host_facts().cores or torch.get_num_threads()
    counts = thread_counts(cores)
    available = int(available_memory_bytes() * _FREE_SHARE)
    room = Room(
        device=device,
        repeat_s=min(_LONGEST_S, 0.75 * seconds / ((len(counts) + _OTHERS) * PLANNED_ROUNDS)),
        memory_bytes=available,
        host_bytes=available,
    )
    found: dict[Key, Build] = {
        ("matmul_threads_flops_per_s", str(count)): _with_threads(count, partial(products.rate, room, "fp32"))
        for count in counts
    }
    for precision in PRECISIONS[1:]:
        found["matmul_flops_per_s", precision] = _with_threads(cores, partial(products.rate, room, precision))
    copied_bytes = _CACHE_TIMES * max(_LEAST_CACHE_BYTES, last_level_cache_bytes())
    found["memory_bytes_per_s", ""] = _with_threads(cores, partial(copies.within, room, copied_bytes))
    found["launch_us", ""] = partial(launches.eager, device)
    return found


def thread_counts(cores: int) -> list[int]:
    """1, 2, 4 and so on, and as many as there are cores."""
    counts = [1 << power for power in range(cores.bit_length()) if 1 << power < cores]
    return [*counts, cores]


def last_level_cache_bytes(cpus: Path = _CPUS) -> int:
    """All of the machine's last-level caches together; 0 where it does not tell."""
    found: dict[str, int] = {}
    for index in cpus.glob("cpu[0-9]*/cache/index3"):
        try:
            size, shared_by = (index / "size").read_text(), (index / "shared_cpu_list").read_text()
            found[shared_by] = int(size.strip().removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    return sum(found.values())


def _with_threads(threads: int, build: Build) -> Build:
    """What `build` builds, built and repeated with so many threads."""

    def built() -> Repeat | None:
        torch.set_num_threads(threads)
        inner = build()
        if inner is None:
            return None

        def repeat() -> float:
            torch.set_num_threads(threads)
            return inner()

        return repeat

    return built
