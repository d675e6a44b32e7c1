"""Learning rates for models at once: a list in place of the one learning rate of an optimizer's table.

Model i has the weights that a run with seed + i begins with, and the list's rate number i; a model alone is
the first of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from .tables import PositiveFloat

LearningRates = Annotated[list[PositiveFloat], Meta(min_length=1, max_length=4096)]
"""Model i of those at once learns at number i; where there are more models, the list begins anew."""


def completed(table: dict[str, Any]) -> dict[str, Any]:
    """A preset file's tables; an optimizer that gives a list alone has its first rate as the `lr`."""
    optimizer = table.get("optimizer")
    if not isinstance(optimizer, dict) or "lr" in optimizer:
        return table
    rates = optimizer.get("learning_rates")
    first = rates[0] if isinstance(rates, list) and rates else None
    if not isinstance(first, int | float) or isinstance(first, bool) or first <= 0:
        return table
    return {**table, "optimizer": {"lr": first, **optimizer}}


def of_models(rates: list[float], count: int) -> list[float]:
    """The rate of each of `count` models."""
    return [rates[index % len(rates)] for index in range(count)]
