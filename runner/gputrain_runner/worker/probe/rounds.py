"""Going round a device's quantities until the time is up: medians and quartiles of what each showed.

Clocks, temperature and what else the machine does drift. So the quantities are not measured one after
another but each once a round, every second round backwards: a drift then falls on all of them alike and
shows as their spread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from ...ceilings import Figure

Key = tuple[str, str]
"""A field of `Ceilings`, and the name within it where it holds several ("" where it holds one)."""
Repeat = Callable[[], float]
"""Measures a quantity once, in its own unit."""

Build = Callable[[], Repeat | None]
"""Gets a quantity ready to be measured; None where the device cannot do such a thing."""

LEAST_ROUNDS = 3
"""Fewer have no quartiles; done even where the time is too short for them."""
PLANNED_ROUNDS = 8
"""What the length of one repeat is chosen for."""


def go_round(
    quantities: Mapping[Key, Repeat],
    until: float,
    stopped: Callable[[], bool],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Key, Figure] | None:
    """Measure every quantity as often as the time allows, all equally often.

    Args:
        quantities: what to measure.
        until: when to be done, on `clock`.
        stopped: asked between two repeats; once it is true nobody wants the rest.
        clock: seconds.

    Returns:
        A figure for each quantity; None where it was stopped.
    """
    found: dict[Key, list[float]] = {key: [] for key in quantities}
    keys = list(quantities)
    rounds = 0
    while True:
        began = clock()
        for key in keys:
            if stopped():
                return None
            found[key].append(quantities[key]())
        keys.reverse()
        rounds += 1
        now = clock()
        if rounds >= LEAST_ROUNDS and now + (now - began) > until:
            return {key: figure(values) for key, values in found.items()}


def figure(values: Sequence[float]) -> Figure:
    """Median and quartiles of two repeats or more."""
    q25, median, q75 = statistics.quantiles(values, n=4, method="inclusive")
    return Figure(median=median, q25=q25, q75=q75, repeats=len(values))
