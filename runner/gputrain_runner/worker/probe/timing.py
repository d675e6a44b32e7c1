"""Timing of work that may still run when it has been asked for; training waits, so this may wait as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

import torch

from ..devices import CONTEXT_LOST, synchronize

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Room:
    """What one quantity may take of a device."""

    device: torch.device
    repeat_s: float
    """About how long one repeat is to last."""
    memory_bytes: int
    """What its operands may take of the device's memory together."""
    host_bytes: int
    """What they may take of the host's."""


def seconds_of(work: Callable[[], object], device: torch.device, times: int = 1) -> float:
    """Seconds for doing the work so many times, everything done at the end."""
    synchronize(device)
    began = perf_counter()
    for _ in range(times):
        work()
    synchronize(device)
    return perf_counter() - began


def times_within(seconds: float, one_s: float) -> int:
    """How many times something that takes `one_s` is done in about so many seconds; once at least."""
    return max(1, round(seconds / max(one_s, 1e-9)))


def within_memory(make: Callable[[], Made]) -> Made | None:
    """What `make` makes; None where the device has no memory for it, or no such operation.

    Raises:
        RuntimeError: the device's context is lost; nothing works on it any more.
    """
    # The exception must be gone before anything else is allocated: it holds the failed tensors.
    try:
        return make()
    except CONTEXT_LOST:
        raise
    except (RuntimeError, MemoryError):
        return None
