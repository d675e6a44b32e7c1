"""The range of a chart's values: from 0 to a 1-2-5 number that rarely moves, with its labels."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..series import Column

_SHRINK_BELOW = 0.9
"""How far below a lower top the highest value must fall before the range shrinks: no flapping at its edge."""


def nice_top(value: float) -> float:
    """The smallest of ... 0.5, 1, 2, 5, 10 ... not below `value`; 1 where there is nothing above 0."""
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power: float = 10.0 ** math.floor(math.log10(value))
    for step in (1, 2, 5):
        if value <= step * power:
            return step * power
    return 10 * power


class Scale:
    """The top of a range that starts at 0: fixed, or following what is visible in 1-2-5 steps."""

    def __init__(self, fixed: float | None = None) -> None:
        self._fixed = fixed
        self._top: float | None = None

    @property
    def top(self) -> float:
        """The top in force."""
        return self._fixed if self._fixed is not None else self._top or 1.0

    def follow(self, columns: Iterable[Column]) -> float:
        """Take in what is visible; the new top. It grows at once and shrinks when there is clear room."""
        if self._fixed is None:
            highest = max((column[1] for column in columns if column), default=0.0)
            if highest > 0:
                roomy = nice_top(highest / _SHRINK_BELOW)
                if self._top is None or highest > self._top or roomy < self._top:
                    self._top = nice_top(highest)
        return self.top


def labelled_rows(rows: int, top: float) -> dict[int, float]:
    """Which plot rows (0 uppermost) carry which value; the zero line lies below the last row.

    The top always, then as many round parts of it as leave two rows between labels.
    """
    first_digit = round(top / 10 ** math.floor(math.log10(top) + 1e-9)) if top > 0 else 1
    most = 5 if first_digit == 5 else 4
    parts = next((each for each in (most, 2) if rows >= 2 * each), 1)
    # The value's dot is the lowest of its row's four, as the top's is the highest of its own.
    return {math.floor((rows - 0.25) * i / parts): top * (parts - i) / parts for i in range(parts)}
