"""Measured quantities and the ratios of two of them as texts, for comparisons."""

from __future__ import annotations

from collections.abc import Callable

from gputrain_runner.recordings.bootstrap import Ratio, Series

from . import format

_UNITS: dict[str, Callable[[float], str]] = {
    "": format.count,
    "ms": format.milliseconds,
    "bytes": format.memory,
    "bytes/s": format.data_rate,
    "share": lambda value: format.percent(value, 1),
    "FLOP/s": format.flops_rate,
    "cores": lambda value: f"{value:.2f} cores",
}


def quantity(told: Series | None, unit: str) -> str:
    """The median in its unit: `12.3 ms`, `1.84 GiB`; n/a where it was not measured."""
    if told is None:
        return format.UNKNOWN
    return _UNITS[unit](told.median) if unit in _UNITS else f"{told.median:,.0f} {unit}"


def judgement(told: Ratio | None) -> str:
    """`more`, `less` or `within the noise`; nothing where there is no ratio."""
    if told is None:
        return ""
    if not told.beyond_noise:
        return "within the noise"
    return "more" if told.ratio > 1 else "less"
