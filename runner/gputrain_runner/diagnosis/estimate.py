"""A figure that is not known exactly: low, likely and high."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """Three points of one quantity, in whatever unit; `low` <= `likely` <= `high`."""

    low: float
    likely: float
    high: float

    def plus(self, other: Estimate | float) -> Estimate:
        """The sum; both low ends are taken to come together, which keeps the range wide."""
        if isinstance(other, Estimate):
            return Estimate(self.low + other.low, self.likely + other.likely, self.high + other.high)
        return Estimate(self.low + other, self.likely + other, self.high + other)

    def times(self, factor: float) -> Estimate:
        """All three points times a factor of at least 0."""
        return Estimate(self.low * factor, self.likely * factor, self.high * factor)

    def at_least(self, floor: float) -> Estimate:
        """No point below `floor`."""
        return Estimate(max(self.low, floor), max(self.likely, floor), max(self.high, floor))

    def at_most(self, top: float) -> Estimate:
        """No point above `top`."""
        return Estimate(min(self.low, top), min(self.likely, top), min(self.high, top))


def exactly(value: float) -> Estimate:
    """A figure that is known."""
    return Estimate(value, value, value)


def between(one: float, likely: float, other: float) -> Estimate:
    """From three points in any order."""
    low, middle, high = sorted((one, likely, other))
    return Estimate(low, middle, high)


def gain(step_ms: float, after_ms: Estimate, work: float = 1.0) -> Estimate:
    """Samples/s after over before.

    Args:
        step_ms: a step now.
        after_ms: a step then.
        work: samples of a step then over those of a step now.
    """
    after = after_ms.at_least(1e-6)
    return Estimate(work * step_ms / after.high, work * step_ms / after.likely, work * step_ms / after.low)
