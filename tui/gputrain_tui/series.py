"""Values over time for the charts: bounded, the newest in full detail, the older thinned to extremes."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator

Column = tuple[float, float] | None
"""Lowest and highest value of a column of a chart; None where there is nothing."""

_NAN = math.nan


class _Tier:
    """Entries of one resolution, oldest dropped first. An entry is a time with its lowest and highest value.

    NaN as a value is a gap. With resolution 0 each value is an entry of its own, and the two arrays are one.
    """

    __slots__ = ("capacity", "dropped", "high", "low", "resolution_s", "times")

    def __init__(self, resolution_s: float, capacity: int) -> None:
        self.resolution_s = resolution_s
        self.capacity = capacity
        self.dropped = False
        self.times = array("d")
        self.low = array("d")
        self.high = array("d") if resolution_s else self.low

    def append(self, t_s: float, value: float) -> None:
        if self.resolution_s:
            t_s = (math.floor(t_s / self.resolution_s) + 0.5) * self.resolution_s
        if self.times and self._absorbed(t_s, value):
            return
        self.times.append(t_s)
        self.low.append(value)
        if self.high is not self.low:
            self.high.append(value)
        # Trimmed in batches: dropping the first element of an array moves all the others.
        if len(self.times) > self.capacity * 5 // 4:
            self._trim(len(self.times) - self.capacity)

    def _absorbed(self, t_s: float, value: float) -> bool:
        """True where the newest entry took the value in."""
        if value != value:
            return self.low[-1] != self.low[-1]
        if not self.resolution_s or t_s != self.times[-1] or self.low[-1] != self.low[-1]:
            return False
        self.low[-1] = min(self.low[-1], value)
        self.high[-1] = max(self.high[-1], value)
        return True

    def _trim(self, n: int) -> None:
        self.dropped = True
        del self.times[:n], self.low[:n]
        if self.high is not self.low:
            del self.high[:n]

    @property
    def size_bytes(self) -> int:
        arrays = (self.times, self.low) if self.high is self.low else (self.times, self.low, self.high)
        return sum(len(each) * each.itemsize for each in arrays)


class Series:
    """A value over time, appended in order: at least 10 minutes at 4 values a second, and a day thinned.

    Beyond the newest `full_points` values, the extremes of every 4 s are kept for 3 hours and those of every
    36 s for a day; the three together stay below 250 kB.
    """

    def __init__(self, full_points: int = 2400) -> None:
        self._tiers = (_Tier(0.0, full_points), _Tier(4.0, 2700), _Tier(36.0, 2400))
        self.version = 0
        """Grows with every append: a reader that saw this version has seen all there is."""
        self.known = False
        """Whether there ever was a value."""

    def append(self, t_s: float, value: float | None) -> None:
        """Add a value at `t_s` seconds; None, NaN and infinities are gaps.

        What comes out of order is passed over: a chart has no use for it, and it must not stop one.
        """
        known = value if value is not None and math.isfinite(value) else _NAN
        newest = self._tiers[0].times
        if newest and t_s < newest[-1]:
            return
        self.known = self.known or known == known
        for tier in self._tiers:
            tier.append(t_s, known)
        self.version += 1

    @property
    def last(self) -> float | None:
        """The newest value; None when there is none or the newest is a gap."""
        values = self._tiers[0].low
        return values[-1] if values and values[-1] == values[-1] else None

    @property
    def end_s(self) -> float:
        """The time of the newest value or gap; minus infinity before there is one."""
        times = self._tiers[0].times
        return times[-1] if times else -math.inf

    @property
    def size_bytes(self) -> int:
        """Bytes of storage in use."""
        return sum(tier.size_bytes for tier in self._tiers)

    def columns(self, first: int, n: int, column_s: float, join_s: float = 10.0) -> list[Column]:
        """Extremes in `n` columns from number `first` on; column k covers [k, k + 1) * `column_s` seconds.

        Columns are a property of time, not of the window, so one that has been left behind never changes
        while a window slides. Columns between two neighbouring values no more than `join_s` apart are filled
        in along a straight line; a gap, or a longer silence, stays None.
        """
        found: list[Column] = [None] * n
        previous_t = previous_low = previous_high = _NAN
        for t_s, low, high, spacing_s in self._entries(first * column_s, (first + n) * column_s):
            at = math.floor(t_s / column_s) - first
            if low != low:
                previous_t = _NAN
                continue
            if t_s - previous_t <= max(join_s, 2.5 * spacing_s):
                before = math.floor(previous_t / column_s) - first
                a, b = (previous_low + previous_high) / 2, (low + high) / 2
                for between in range(max(before + 1, 0), min(at, n)):
                    middle_s = (first + between + 0.5) * column_s
                    value = a + (b - a) * (middle_s - previous_t) / (t_s - previous_t)
                    found[between] = (value, value)
            if 0 <= at < n:
                held = found[at]
                found[at] = (min(held[0], low), max(held[1], high)) if held else (low, high)
            previous_t, previous_low, previous_high = t_s, low, high
        return found

    def _entries(self, t_from_s: float, t_to_s: float) -> Iterator[tuple[float, float, float, float]]:
        """(time, low, high, spacing), each time from the finest tier that reaches so far back.

        One entry before and one after the interval are included, for lines that cross its edges.
        """
        spans: list[tuple[_Tier, float]] = []
        end_s = math.inf
        for tier in self._tiers:
            begin_s = tier.times[0] if tier.dropped else -math.inf
            spans.append((tier, end_s))
            end_s = begin_s
            if begin_s <= t_from_s:
                break
        for tier, stop_s in reversed(spans):
            times = tier.times
            start = max(0, bisect_left(times, t_from_s) - 1)
            stop = min(bisect_left(times, t_to_s) + 1, bisect_left(times, stop_s))
            for i in range(start, stop):
                yield times[i], tier.low[i], tier.high[i], tier.resolution_s


class Window:
    """The columns a chart shows, remembered: only those that can still change are asked for again."""

    def __init__(self) -> None:
        self._columns: list[Column] = []
        self._of: tuple[Series, float] | None = None
        self._first = 0
        self._settled = 0
        """Columns below this number cannot change any more."""

    def columns(self, series: Series, first: int, n: int, column_s: float) -> list[Column]:
        """As `Series.columns`; cheap where `first` moves forward over the same series."""
        kept: list[Column] = []
        if self._of == (series, column_s) and first >= self._first:
            kept = self._columns[first - self._first : max(0, self._settled - self._first)][:n]
        fresh = series.columns(first + len(kept), n - len(kept), column_s)
        self._of, self._first, self._columns = (series, column_s), first, kept + fresh
        end = series.end_s
        # Nothing will be added before the newest value's own column, nor between two values before it.
        self._settled = math.floor(end / column_s) if math.isfinite(end) else first
        return self._columns
