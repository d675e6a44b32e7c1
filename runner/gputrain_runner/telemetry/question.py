"""What a metric is: which fields it fills, how often it is asked, and the ways to ask for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .driver import Driver

Values = dict[str, Any]
"""Fields of `timeline.Gpu` by name; a value that cannot be is None."""


class Tier(Enum):
    """How often, in seconds at the default pace."""

    FAST = 0.5
    SECOND = 1.0
    SLOW = 5.0
    ONCE = math.inf


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
    """What this metric keeps for itself from one asking to the next, per GPU."""
    clock: Callable[[], float]


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
