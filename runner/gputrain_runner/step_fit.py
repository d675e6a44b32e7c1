"""The line t(b) = a + c*b through a device's step times: what a step costs at all, and each sample in it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

STANDS_OUT = 0.05
"""A residual beyond this share of the time stands out from the line."""


class StepFit(Struct, frozen=True, kw_only=True):
    """A fitted line, its points in the order of their `x`."""

    a_ms: float
    """What a step costs whatever is in it."""
    c_ms: float
    """What one more of `x` (a sample of the batch, a FLOP) adds."""
    x: list[float]
    ms: list[float]
    residuals: list[float]
    """(measured - fitted) / measured."""

    @property
    def half(self) -> float | None:
        """n1/2 = a / c: where half the time is the step's own cost; None without a slope or below 0."""
        return self.a_ms / self.c_ms if self.c_ms > 0 and self.a_ms > 0 else None

    def at(self, x: float) -> float:
        """The fitted time in ms."""
        return self.a_ms + self.c_ms * x

    @property
    def standing_out(self) -> list[int]:
        """Indices of the points that lie off the line."""
        return [at for at, residual in enumerate(self.residuals) if abs(residual) > STANDS_OUT]


def fit(x: Sequence[float], ms: Sequence[float]) -> StepFit | None:
    """Least squares of the relative errors, so that short steps count as much as long ones.

    None for fewer than two different `x`. Times are positive.
    """
    points = sorted(zip(x, ms, strict=True))
    weights = [1 / time**2 for _, time in points]
    total = sum(weights)
    if len({at for at, _ in points}) < 2:
        return None
    mean_x = sum(w * at for w, (at, _) in zip(weights, points, strict=True)) / total
    mean_t = sum(w * time for w, (_, time) in zip(weights, points, strict=True)) / total
    spread = sum(w * (at - mean_x) ** 2 for w, (at, _) in zip(weights, points, strict=True))
    c = (
        sum(w * (at - mean_x) * (time - mean_t) for w, (at, time) in zip(weights, points, strict=True))
        / spread
    )
    a = mean_t - c * mean_x
    return StepFit(
        a_ms=a,
        c_ms=c,
        x=[at for at, _ in points],
        ms=[time for _, time in points],
        residuals=[(time - a - c * at) / time for at, time in points],
    )


def crossing(one: StepFit, other: StepFit) -> float | None:
    """Where the two lines meet, at a positive x; None where they do not."""
    slope = one.c_ms - other.c_ms
    if slope == 0:
        return None
    x = (other.a_ms - one.a_ms) / slope
    return x if x > 0 else None
