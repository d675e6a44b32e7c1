"""The ratio of two series of measurements, with an interval that the noise in them allows.

Successive samples are not independent: a slow stretch lasts. So whole blocks of them are drawn, not single
ones (moving blocks: Kuensch, Annals of Statistics 17, 1989), and the interval is widened for how few
blocks there are.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import median, quantiles

from msgspec import Struct

RESAMPLES = 400
BLOCKS = 12
"""About so many blocks a series is cut into."""
MOST = 600
"""Of a longer series so many values are taken, evenly."""
FLOOR = 0.03
"""A difference of less is not called one, however small the interval: two runs of the same settings differ
by about as much (TraceML holds 3 % for the least that is worth telling)."""
_SEED = 20_240_917


class Series(Struct, frozen=True, kw_only=True):
    """One side's measurements: their median and quartiles."""

    median: float
    q25: float
    q75: float
    values: int


class Ratio(Struct, frozen=True, kw_only=True):
    """b over a."""

    ratio: float
    low: float
    high: float
    """The interval that holds the true ratio 19 times out of 20."""
    beyond_noise: bool
    """Whether the interval leaves 1 out, and the ratio is further from it than the floor."""


def series(values: Sequence[float]) -> Series | None:
    """The median and quartiles; None of nothing."""
    if not values:
        return None
    if len(values) == 1:
        return Series(median=values[0], q25=values[0], q75=values[0], values=1)
    q25, middle, q75 = quantiles(values, n=4, method="inclusive")
    return Series(median=middle, q25=q25, q75=q75, values=len(values))


def ratio(a: Sequence[float], b: Sequence[float]) -> Ratio | None:
    """The ratio of the medians, b / a; None where a side is empty or its median is not above 0."""
    if not a or not b or median(a) <= 0 or median(b) < 0:
        return None
    middle = median(b) / median(a)
    if middle == 0:
        return Ratio(ratio=0.0, low=0.0, high=0.0, beyond_noise=True)
    chance = random.Random(_SEED)
    spread = math.hypot(_log_error(a, chance), _log_error(b, chance)) * 1.96
    low, high = middle * math.exp(-spread), middle * math.exp(spread)
    beyond = not low <= 1 <= high and abs(middle - 1) > FLOOR
    return Ratio(ratio=middle, low=low, high=high, beyond_noise=beyond)


def _log_error(values: Sequence[float], chance: random.Random) -> float:
    """The standard error of the logarithm of the median."""
    kept = values[:: max(1, len(values) // MOST)]
    length = max(1, round(len(kept) / BLOCKS))
    blocks = len(kept) / length
    if len(kept) < 3:
        return 0.5  # Two values say next to nothing of how far they may be off.
    medians = []
    for _ in range(RESAMPLES):
        drawn: list[float] = []
        while len(drawn) < len(kept):
            begin = chance.randrange(len(kept) - length + 1)
            drawn += kept[begin : begin + length]
        medians.append(math.log(max(median(drawn[: len(kept)]), 1e-300)))
    mean = sum(medians) / len(medians)
    error = math.sqrt(sum((value - mean) ** 2 for value in medians) / len(medians))
    # Student's factor over the normal one, and the bias of a variance from few blocks.
    return error * (1 + 2.5 / blocks)
