"""Copies: within a device's memory, and between host and device."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .rounds import Repeat
from .timing import Room, seconds_of, times_within, within_memory

DEVICE_BYTES = 1 << 30
"""One buffer on a GPU: many times its caches, and some hundred microseconds on the fastest."""
LINK_BYTES = 128 << 20
"""One copy between host and device: some milliseconds over the fastest link."""
_SMALLEST = 1 << 20


def within(room: Room, most_bytes: int) -> Repeat | None:
    """Bytes read plus bytes written per second by a copy within the device's memory.

    Args:
        room: what it may take.
        most_bytes: the size of each of its two buffers, where memory allows.
    """
    size = min(most_bytes, room.memory_bytes // 2)
    pair = None if size < _SMALLEST else within_memory(lambda: [_bytes(size, room.device) for _ in range(2)])
    if pair is None:
        return None
    source, target = pair
    return _rate(room, lambda: target.copy_(source), 2 * size)


def between(room: Room, *, pinned: bool, to_device: bool) -> Repeat | None:
    """Bytes per second of one copy between the host and a GPU; None where the host cannot pin memory."""
    size = min(LINK_BYTES, room.memory_bytes, room.host_bytes)
    if size < _SMALLEST:
        return None
    on_host = within_memory(lambda: torch.empty(size, dtype=torch.uint8, pin_memory=pinned).fill_(1))
    on_device = within_memory(lambda: _bytes(size, room.device))
    if on_host is None or on_device is None:
        return None
    source, target = (on_host, on_device) if to_device else (on_device, on_host)
    return _rate(room, lambda: target.copy_(source, non_blocking=pinned), size)


def _rate(room: Room, copy: Callable[[], Tensor], counted_bytes: int) -> Repeat:
    """Measures the copy's bytes per second; each time after one copy that does not count."""
    one_s = min(seconds_of(copy, room.device) for _ in range(2))
    times = times_within(room.repeat_s, one_s)

    def repeat() -> float:
        copy()
        return counted_bytes * times / seconds_of(copy, room.device, times)

    return repeat


def _bytes(size: int, device: torch.device) -> Tensor:
    # Written to: memory that was only reserved is not there yet.
    return torch.empty(size, dtype=torch.uint8, device=device).fill_(1)
