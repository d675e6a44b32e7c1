"""Wanted values that stand for a range, and how those of one GPU are put together."""

from __future__ import annotations

from typing import Any

Values = dict[str, Any]
"""Of one GPU, by field, in a recording's units."""


class About:
    """A number that is measured over time: equal to what is close to it."""

    def __init__(self, value: float, share: float = 0.25) -> None:
        self._value, self._share = value, share

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and abs(other - self._value) <= self._share * self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return f"about {self._value}"


class Positive:
    """A number that is not known beforehand, but not 0 either."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int | float) and other > 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "more than 0"


def joined(*parts: Values, **more: Any) -> Values:
    """One GPU's values: the later go before the earlier, those of `detail` one by one."""
    together: Values = {}
    for part in (*parts, more):
        detail = {**together.get("detail", {}), **part.get("detail", {})}
        together |= {**part, "detail": detail}
    return together
