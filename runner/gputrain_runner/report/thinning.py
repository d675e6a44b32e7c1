"""Series thinned to what a screen can show, without losing what stands out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

BINS = 500
"""So many stretches of time are told apart: a chart is about 1,000 points wide, and each has two."""


def extremes(
    t: Sequence[float], values: Sequence[float], bins: int = BINS
) -> tuple[list[float], list[float]]:
    """The lowest and the highest of each bin, in the order in which they were; all where there are few.

    A bin in which nothing was measured leaves one NaN, which is a gap in the line.

    Args:
        t: times, ascending.
        values: as long; NaN where not measured.
        bins: equal stretches of time.
    """
    if len(t) <= 2 * bins:
        return list(t), list(values)
    kept_t: list[float] = []
    kept: list[float] = []
    for first, last in _bins(t, bins):
        known = [at for at in range(first, last) if not math.isnan(values[at])]
        if not known:
            kept_t.append(t[first])
            kept.append(math.nan)
            continue
        ends = {min(known, key=values.__getitem__), max(known, key=values.__getitem__)}
        for at in sorted(ends):
            kept_t.append(t[at])
            kept.append(values[at])
    return kept_t, kept


def means(
    t: Sequence[float], series: Sequence[Sequence[float]], bins: int = BINS
) -> tuple[list[float], list[list[float]]]:
    """Several series over the same times, each bin's mean: for what is stacked and has to add up.

    Args:
        t: times, ascending.
        series: each as long; NaN where not measured.
        bins: equal stretches of time.
    """
    if len(t) <= bins:
        return list(t), [list(values) for values in series]
    kept_t: list[float] = []
    kept: list[list[float]] = [[] for _ in series]
    for first, last in _bins(t, bins):
        kept_t.append(t[(first + last - 1) // 2])
        for values, of in zip(series, kept, strict=True):
            known = [value for value in values[first:last] if not math.isnan(value)]
            of.append(sum(known) / len(known) if known else math.nan)
    return kept_t, kept


def _bins(t: Sequence[float], bins: int) -> Iterator[tuple[int, int]]:
    """The rows of each bin that has any, as first and behind the last."""
    width = (t[-1] - t[0]) / bins or 1.0
    first = 0
    bin_of_first = 0
    for at in range(1, len(t)):
        number = min(bins - 1, int((t[at] - t[0]) / width))
        if number != bin_of_first:
            yield first, at
            first, bin_of_first = at, number
    yield first, len(t)
