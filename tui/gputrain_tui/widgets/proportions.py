"""Dividing a row of cells in proportion, without jitter: a boundary moves only when it must."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

_SLACK_CELLS = 0.8
"""How far a boundary may be from where it belongs before it is moved; above 0.5, so that noise at the middle
of a cell does not move it to and fro."""


def ideal_bounds(amounts: Sequence[float], width: int, least: int = 2) -> list[float]:
    """Right ends of the parts of `width` cells, in proportion but none narrower than `least` cells.

    `amounts` are above 0. With too little room for all of them, `least` is what there is for each.
    """
    least_width = min(float(least), width / len(amounts))
    small: set[int] = set()
    while True:
        total = sum(amount for i, amount in enumerate(amounts) if i not in small)
        room = width - least_width * len(small)
        more = {
            i for i, amount in enumerate(amounts) if i not in small and amount * room < least_width * total
        }
        if not more:
            break
        small |= more
    return list(accumulate(least_width if i in small else a * room / total for i, a in enumerate(amounts)))


def steady_bounds(ideal: Sequence[float], shown: Sequence[int] | None, width: int) -> list[int]:
    """Right ends in whole cells, the last at `width`: those `shown` before where they are near enough."""
    rounded = [round(bound) for bound in ideal]
    rounded[-1] = width
    if shown is None or len(shown) != len(ideal) or shown[-1] != width:
        return rounded
    kept = [
        old if abs(old - exact) <= _SLACK_CELLS else new
        for old, new, exact in zip(shown, rounded, ideal, strict=True)
    ]
    # Two boundaries that went different ways must not leave a part without its cell.
    return kept if all(a < b for a, b in zip([0, *kept], kept, strict=False)) else rounded


class SteadyNumber:
    """A measured value that is smoothed, and shown anew only when it has really moved."""

    __slots__ = ("_mean", "_shown")

    def __init__(self) -> None:
        self._mean: float | None = None
        self._shown: float | None = None

    def add(self, value: float | None, weight: float = 0.3) -> None:
        """Take in a measurement; None forgets the earlier ones."""
        if value is None or self._mean is None:
            self._mean = self._shown = value
        else:
            self._mean += weight * (value - self._mean)

    @property
    def value(self) -> float | None:
        """The smoothed value."""
        return self._mean

    def shown(self, last_digit: float) -> float | None:
        """The value to write where the last written digit stands for `last_digit`."""
        if self._mean is not None and (
            self._shown is None or abs(self._mean - self._shown) > 0.75 * last_digit
        ):
            self._shown = self._mean
        return self._shown
