"""The ratio of two series of measurements, with an interval that the noise in them allows.

Successive samples are not independent: a slow stretch lasts. So whole blocks of them are drawn, not single
ones (moving blocks: Kuensch, Annals of Statistics 17, 1989), and the interval is widened for how few
blocks there are. A stretch may last longer than a block, which the thirds of a series show (batch means
with Student's factor: Schmeiser, Operations Research 30, 1982): the larger of the two errors is taken. And
two runs of the same settings differ though neither drifts, which is in no series: by the floor.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import median, quantiles, stdev

from msgspec import Struct

RESAMPLES = 400
BLOCKS = 12
"""About so many blocks a series is cut into."""
MOST = 600
"""Of a longer series so many values are taken, evenly."""
THIRDS = 3
_NONE = 1e-9
"""An error that is one of rounding."""
_WIDEST = 50.0
"""The logarithm of a factor that says nothing any more, and is still a number."""
_NORMAL = 1.96
_STUDENT = 4.303 / _NORMAL
"""Of two degrees of freedom over the normal one, both for 95 %."""
FLOOR = 0.03
"""A difference of less is not called one, and no interval is narrower: two runs of the same settings differ
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
    error = _NORMAL * math.hypot(_log_error(a, chance), _log_error(b, chance))
    # What does not vary at all, as memory in use, does not vary from run to run either.
    spread = min(math.hypot(error, FLOOR), _WIDEST) if error > _NONE else 0.0
    low, high = middle * math.exp(-spread), middle * math.exp(spread)
    beyond = not low <= 1 <= high and abs(middle - 1) > FLOOR
    return Ratio(ratio=middle, low=low, high=high, beyond_noise=beyond)


def thirds(values: Sequence[float]) -> list[float]:
    """The medians of its thirds, one after the other; the values themselves where there are fewer than 6."""
    length = len(values)
    if length < 2 * THIRDS:
        return list(values)
    return [median(values[part * length // THIRDS : (part + 1) * length // THIRDS]) for part in range(THIRDS)]


def _log_error(values: Sequence[float], chance: random.Random) -> float:
    """The standard error of the logarithm of the median."""
    return max(_error_of_blocks(values, chance), _error_of_thirds(values))


def _error_of_thirds(values: Sequence[float]) -> float:
    """Student's over the thirds; and no less than lets the interval hold each of them."""
    middle = _log(median(values))
    parts = [_log(each) for each in thirds(values)]
    if len(parts) != THIRDS:
        return 0.0
    furthest = max(abs(each - middle) for each in parts)
    return max(stdev(parts) / math.sqrt(THIRDS) * _STUDENT, furthest / _NORMAL)


def _error_of_blocks(values: Sequence[float], chance: random.Random) -> float:
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
        medians.append(_log(median(drawn[: len(kept)])))
    mean = sum(medians) / len(medians)
    error = math.sqrt(sum((value - mean) ** 2 for value in medians) / len(medians))
    # Student's factor over the normal one, and the bias of a variance from few blocks.
    return error * (1 + 2.5 / blocks)


def _log(value: float) -> float:
    """The logarithm, of 0 that of next to nothing."""
    return math.log(max(value, 1e-300))
