"""A GPU's memory: from the driver, with or without what it reserves, or the host's where they share it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .driver import DriverError, Kind
from .question import Ask, Question, Values

FIELDS = (
    "memory_used_bytes",
    "memory_total_bytes",
    "memory_free_bytes",
    "memory_reserved_bytes",
    "memory_source",
)

_V2 = 0x02000028
"""The size and version of nvmlMemory_v2_t."""
_MOST_BYTES = 2**50
_INTEGRATED = frozenset({"5.3", "6.2", "7.2", "8.7", "10.1", "11.0", "12.1"})
"""Compute capabilities of GPUs that are one chip with the CPU: Tegra X1 and X2, Xavier, Orin, Thor, GB10."""


def shares_host_memory(known: Mapping[str, Any]) -> bool:
    """Whether a GPU that tells of no memory of its own has none: one chip with its CPU.

    Such a one answers for its link with a placeholder, or is known by its compute capability.
    """
    link = (known.get("pcie_generation_max"), known.get("pcie_width_max"))
    return link == (1, 1) or known.get("compute_capability") in _INTEGRATED


def ask(*version: int) -> Ask:
    """Version 2 keeps what the driver reserves for itself out of `used`; without a version it is in."""

    def from_driver(question: Question) -> Values:
        memory = question.driver.call("nvmlDeviceGetMemoryInfo", question.handle, *version)
        total = _within(int(memory.total), 1, _MOST_BYTES)
        if total is None:
            if shares_host_memory(question.known):
                raise DriverError(Kind.UNSUPPORTED, "this GPU has no memory of its own")
            return dict.fromkeys(FIELDS)
        used = _within(int(memory.used), 0, total)
        reserved = _within(int(memory.reserved), 0, total) if version else None
        return {
            "memory_used_bytes": used,
            "memory_total_bytes": total,
            "memory_free_bytes": None if used is None else _within(int(memory.free), 0, total),
            "memory_reserved_bytes": reserved,
            "memory_source": "driver" if version else "driver_with_reserved",
        }

    return from_driver


from_version_2, from_version_1 = ask(_V2), ask()


def from_host(question: Question) -> Values:
    """The host's memory, where it is the GPU's too. Refused for all others."""
    if not shares_host_memory(question.known):
        raise DriverError(Kind.UNSUPPORTED, "this GPU does not tell its memory")
    # Here and no earlier: only such a machine needs it on this way.
    import psutil

    memory = psutil.virtual_memory()
    return {
        "memory_used_bytes": int(memory.total) - int(memory.available),
        "memory_total_bytes": int(memory.total),
        "memory_free_bytes": int(memory.available),
        "memory_reserved_bytes": None,
        "memory_source": "host",
    }


def _within(value: int, low: int, high: int) -> int | None:
    return value if low <= value <= high else None
