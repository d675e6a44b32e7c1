"""What a metric is: which fields it fills, how often it is asked, and the ways to ask for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from .driver import Driver

Values = dict[str, Any]
"""Fields of `hardware.Gpu` and `hardware.GpuDetail` by name; a value that cannot be is None."""


class Tier(Enum):
    """How often, in seconds at the default pace."""

    FAST = 0.5
    SECOND = 1.0
    SLOW = 5.0
    RARE = 30.0
    ONCE = math.inf


OVERVIEW_S = 2.0
"""Of a GPU out of focus nothing is asked more often than this."""


class Closable(Protocol):
    """A note that holds something of the driver's."""

    def close(self) -> None:
        """Give it back."""


@dataclass(frozen=True, slots=True)
class Instance:
    """Where a MIG device lies: the GPU that was divided, and the number of its part."""

    parent: Any
    gpu_instance: int


@dataclass(slots=True)
class Question:
    """One asking: of which GPU, and what is known so far."""

    driver: Driver
    handle: Any
    known: Mapping[str, Any]
    """The GPU's fields as last answered."""
    every_s: float
    """Seconds between two askings."""
    notes: dict[str, Any]
    """What this metric keeps for itself from one asking to the next, per GPU; a `Closable` is closed when
    the notes are thrown away."""
    clock: Callable[[], float]
    shared: dict[str, Any] = field(default_factory=dict)
    """What one metric leaves for another of the same GPU."""
    ours: frozenset[int] = frozenset()
    """The worker's process and those it started."""
    instance: Instance | None = None
    """Of a MIG device; None for a whole GPU."""


Ask = Callable[[Question], Values]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask; it may cost more than another and so be taken less often."""

    ask: Ask
    tier: Tier


@dataclass(frozen=True, slots=True)
class Metric:
    """Fields that are asked for together."""

    name: str
    fields: tuple[str, ...]
    ways: tuple[Way, ...]
    """The best first; the next is taken for good where a card or driver refuses one."""
