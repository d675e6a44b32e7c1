"""Figures as the diagnosis writes them into its sentences."""

from __future__ import annotations

import math


def significant(value: float, digits: int = 3) -> str:
    """`0.556`, `12.3`, `1,240`: so many digits, no exponent."""
    if not value:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, decimals)}f}"


def ms(value: float) -> str:
    """`0.556 ms`, `4.2 µs`, `1.24 s`."""
    if abs(value) >= 999.5:
        return f"{significant(value / 1e3)} s"
    if 0 < abs(value) < 0.0995:
        return f"{significant(value * 1e3, 2)} µs"
    return f"{significant(value)} ms"


def ratio(value: float) -> str:
    """`×4.1`, `×24`, `×1.04`."""
    return f"×{significant(value, 3 if value < 2 else 2)}"


def percent(share: float) -> str:
    """`61 %`; below 10 % with a decimal."""
    return f"{share * 100:.1f} %" if 0 < share < 0.0995 else f"{share * 100:.0f} %"


def count(value: float) -> str:
    """`33`, `1,060`; below 10 with a decimal where there is one."""
    return f"{value:.1f}" if value < 9.95 and value != round(value) else f"{round(value):,}"


def size(value_bytes: float) -> str:
    """`307 kB`, `1.2 GB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value_bytes >= scale:
            return f"{significant(value_bytes / scale)} {unit}"
    return f"{value_bytes:.0f} bytes"


def flops(value: float) -> str:
    """`1.24 TFLOP/s`."""
    unit, scale = ("TFLOP/s", 1e12) if value >= 1e12 else ("GFLOP/s", 1e9)
    return f"{significant(value / scale)} {unit}"


def cores(value: float) -> str:
    """`1 core`, `1.6 cores`."""
    return f"{value:.1f} cores" if abs(value - 1) > 0.049 else "1 core"
