"""Values that change with time, as the simulated driver reads them. `t`: seconds since it was loaded."""

from __future__ import annotations

Number = int | float
Value = str | int | float
"""A text, a number, or one of the waves below."""


def ramp(start: Number, per_second: Number) -> str:
    """Rises (or falls) from `start`."""
    return f"ramp {start!r} {per_second!r}"


def sine(mean: Number, amplitude: Number, period_s: Number) -> str:
    """Swings around `mean`."""
    return f"sine {mean!r} {amplitude!r} {period_s!r}"


def square(low: Number, high: Number, period_s: Number, share: float = 0.5) -> str:
    """`high` in the first `share` of each period, else `low`."""
    return f"square {low!r} {high!r} {period_s!r} {share!r}"


def after(seconds: Number, value: Number, before: Number = 0) -> str:
    """`before` until then."""
    return f"after {seconds!r} {value!r} {before!r}"


def counter(rate: Value, start: Number = 0, bits: int = 64) -> str:
    """Counts up by `rate` a second, which may be a wave or be changed: it runs on from where it was.

    `bits`: 64, or 32 for one that goes round at 2^32.
    """
    return f"{'counter' if bits == 64 else 'counter32'} {start!r} {rate}"
