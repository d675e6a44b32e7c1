"""Numbers, units and times as the texts people read; what is not known is "n/a".

Texts are written with ×, → and –; whoever draws them passes them through `widgets.glyphs.fit`.
"""

from __future__ import annotations

import math
import re

from gputrain_runner.settings import Value

UNKNOWN = "n/a"

_SHORT_LABELS = {"batch_size": "batch", "model_size": "size", "models_at_once": "models"}


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def significant(value: float, digits: int = 3) -> str:
    """`value` with so many significant digits and no exponent: `0.556`, `12.3`, `1,240`."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    # Rounding may carry into the next power of ten: 9.996 is 10.0, not 10.00.
    exponent = math.floor(math.log10(abs(round(value, digits - 1 - exponent))))
    return f"{value:,.{max(0, digits - 1 - exponent)}f}"


def _scaled(value: float, base: float, units: tuple[str, ...], digits: int) -> str:
    """`value` in the unit that keeps it below `base`."""
    at = 0
    while at < len(units) - 1 and abs(float(f"{value:.{digits}g}")) >= base:
        value /= base
        at += 1
    text = f"{int(value):,}" if at == 0 and value == int(value) else significant(value, digits)
    return f"{text} {units[at]}".rstrip()


def count(value: float | None) -> str:
    """`1,843,210`; below 100 with decimals where there are any: `61.5`, `3.21`."""
    if value is None or not _known(value):
        return UNKNOWN
    if value == int(value) or abs(value) >= 100:
        return f"{round(value):,}"
    return significant(value)


def short(value: float | None) -> str:
    """Three significant digits with k, M, G, T: `1.84 M`, `712 k`, `128`, `61.5`."""
    if value is None or not _known(value):
        return UNKNOWN
    return _scaled(value, 1000, ("", "k", "M", "G", "T", "P", "E"), 3)


def axis(value: float) -> str:
    """An axis label, as short as its value allows: `0`, `2 M`, `500 k`, `0.05`."""
    number, _, unit = short(value).partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}".rstrip()


def milliseconds(value_ms: float | None) -> str:
    """Three significant digits: `12.3 ms`, `1.24 s`, `0.098 ms`, and below 0.01 ms `4.21 µs`."""
    if value_ms is None or not _known(value_ms):
        return UNKNOWN
    if abs(value_ms) >= 999.5:
        return f"{significant(value_ms / 1000)} s"
    if 0 < abs(value_ms) < 0.01:
        return f"{significant(value_ms * 1000)} µs"
    return f"{_plain_ms(value_ms)} ms"


def _plain_ms(value_ms: float) -> str:
    return f"{value_ms:.3f}" if abs(value_ms) < 0.9995 else significant(value_ms)


def memory(value_bytes: float | None) -> str:
    """Memory in binary units, below 10 with one decimal: `1.2 GiB`, `24 GiB`, `412 MiB`."""
    if value_bytes is None or not _known(value_bytes):
        return UNKNOWN
    units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while len(units) > 1 and abs(value_bytes) >= 1023.5:
        value_bytes /= 1024
        del units[0]
    return f"{value_bytes:.{int(units[0] != 'B' and abs(value_bytes) < 9.95)}f} {units[0]}"


def data(value_bytes: float | None) -> str:
    """An amount of data in decimal units: `1.23 GB`, `412 MB`."""
    if value_bytes is None or not _known(value_bytes):
        return UNKNOWN
    return _scaled(value_bytes, 1000, ("B", "kB", "MB", "GB", "TB", "PB"), 3)


def data_rate(value_bytes_per_s: float | None) -> str:
    """A flow of data in decimal units: `412 MB/s`."""
    text = data(value_bytes_per_s)
    return text if text == UNKNOWN else f"{text}/s"


def percent(share: float | None, decimals: int = 0) -> str:
    """A fraction 0..1 as `61 %`."""
    return UNKNOWN if share is None or not _known(share) else f"{share * 100:.{decimals}f} %"


def ratio(value: float | None, digits: int = 3) -> str:
    """`×1.71`."""
    return UNKNOWN if value is None or not _known(value) else f"×{significant(value, digits)}"


def ratio_spread(value: float, low: float, high: float) -> str:
    """`×1.71 (1.68–1.74)`."""
    return f"{ratio(value)} ({significant(low)}–{significant(high)})"


def loss(value: float | None) -> str:
    """Three significant digits: `0.0312`, `2.30`; very small or large ones with an exponent: `1.20e-05`."""
    if value is None or not _known(value):
        return UNKNOWN
    return f"{value:#.3g}".rstrip(".")


def elapsed(seconds: float | None) -> str:
    """Hours, minutes and seconds: `00:02:13`."""
    if seconds is None or not _known(seconds):
        return UNKNOWN
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"


def clock(seconds: float) -> str:
    """Minutes and seconds since the session began: `02:01`, from an hour on `1:02:01`."""
    whole = max(0, int(seconds))
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:02}:{whole % 60:02}"


def lasting(seconds: float) -> str:
    """A length of time in its largest unit: `12 s`, `3 min`, `2 h`, `4 d`."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


_FLOPS = (("T", 1e12), ("G", 1e9), ("M", 1e6))


def flops_rate(flops_per_s: float) -> str:
    """`175 GFLOP/s`, three digits; a multiplication or an addition is one FLOP."""
    unit, size = next(scale for scale in _FLOPS if flops_per_s >= scale[1] or scale is _FLOPS[-1])
    scaled = flops_per_s / size
    digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
    return f"{scaled:,.{digits}f} {unit}FLOP/s"


def setting(name: str, value: Value) -> str:
    """A setting's value as it is shown: sizes `x2` and `5x150` as `×2` and `5×150`, all else as typed."""
    text = str(value)
    of_numbers = name == "model_size" and re.fullmatch(r"x\d.*|\d+x\d+", text)
    return text.replace("x", "×", 1) if of_numbers else text


def setting_label(name: str) -> str:
    """A short name for a setting: `batch`, `size`, `models`, `data path`."""
    return _SHORT_LABELS.get(name, name.replace("_", " "))


def setting_change(name: str, before: Value, after: Value) -> str:
    """`batch 256 → 512`, `size ×1 → ×2`; values that are names speak for themselves: `host → resident`."""
    change = f"{setting(name, before)} → {setting(name, after)}"
    speaks = isinstance(after, str) and name != "model_size"
    return change if speaks else f"{setting_label(name)} {change}"
