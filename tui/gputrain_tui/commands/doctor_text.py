"""What the doctor found, for people: aligned lines in groups, what to do beneath, the count last."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from gputrain_runner.ceilings import Ceilings, Figure, about
from gputrain_runner.doctor import Check, Examination

from .. import format

Paint = Callable[[str, str], str]
"""A text in a colour (or "bold")."""

_COLOURS = {"ok": "green", "note": "yellow", "problem": "red"}
_MARK_WIDTH = max(map(len, _COLOURS))
_GAP = 2


def lines(found: Examination, width: int, paint: Paint) -> Iterator[str]:
    """The whole list, no line wider than `width` columns (words of their own apart)."""
    titles = max((len(check.title) for check in found.checks), default=0)
    for heading, checks in _groups(found):
        yield paint(heading, "bold")
        for check in checks:
            yield from _check(check, titles, width, paint)
        yield ""
    if found.probe:
        for device, ceilings in found.probe.items():
            yield from _ceilings(device, ceilings, width, paint)
            yield ""
    if found.not_run:
        names = ", ".join(check.title for check in found.not_run)
        yield from textwrap.wrap(
            f"not looked at, because PyTorch was not loaded (--torch loads it): {names}", width
        )
        yield ""
    yield _count(found)


def _groups(found: Examination) -> Iterator[tuple[str, Sequence[Check]]]:
    for group, heading in (("host", "host"), ("driver", "driver"), ("pytorch", "PyTorch")):
        checks = [check for check in found.checks if check.group == group]
        if checks:
            yield heading, checks
    for gpu in found.gpus:
        number = gpu.device.removeprefix("gpu:")
        checks = [check for check in found.checks if check.device == gpu.device]
        yield f"GPU {number}  {gpu.name or format.UNKNOWN}  {gpu.uuid or ''}".rstrip(), checks


def _check(check: Check, titles: int, width: int, paint: Paint) -> Iterator[str]:
    indent = " " * (_GAP + _MARK_WIDTH + 1 + titles + _GAP)
    room = max(20, width - len(indent))
    first, *rest = _wrapped(check.found, room)
    mark = paint(f"{check.verdict:<{_MARK_WIDTH}}", _COLOURS[check.verdict])
    yield f"{' ' * _GAP}{mark} {check.title:<{titles}}{' ' * _GAP}{first}"
    for line in rest:
        yield indent + line
    for at, line in enumerate(_wrapped(check.do, room - 4) if check.do else ()):
        yield f"{indent}{'do: ' if at == 0 else '    '}{line}"


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(text, room, break_on_hyphens=False) or [""]


def _count(found: Examination) -> str:
    return f"{_number(found.problems, 'problem')}, {_number(found.notes, 'note')}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


# ---------------------------------------------------------------------------- ceilings

_RATES = (
    ("memory copy (read + written)", "memory_bytes_per_s"),
    ("host to device, pinned", "h2d_pinned_bytes_per_s"),
    ("host to device, pageable", "h2d_pageable_bytes_per_s"),
    ("device to host, pinned", "d2h_pinned_bytes_per_s"),
    ("device to host, pageable", "d2h_pageable_bytes_per_s"),
)
_Row = tuple[str, str, str, str]
"""What was measured, its median, its quartiles, its repeats."""

_NOISY = "the spread is too wide to trust: something else used the machine; probe again when it is quiet"


def _ceilings(device: str, ceilings: Ceilings, width: int, paint: Paint) -> Iterator[str]:
    """A table of one device's figures."""
    name = "" if ceilings.name is None else f"  {ceilings.name}"
    yield paint(f"probe of {device}{name}", "bold")
    rows = [("", "median", "quartiles", "repeats"), *_rows(ceilings)]
    names, medians, spreads = (max(len(row[column]) for row in rows) for column in range(3))
    for label, median, spread, repeats in rows:
        yield f"  {label:<{names}}  {median:>{medians}}  {spread:<{spreads}}  {repeats}"
    if ceilings.noisy:
        first, *rest = _wrapped(_NOISY, width - len("  note "))
        yield f"  {paint('note', 'yellow')} {first}"
        yield from (f"       {line}" for line in rest)


def _rows(ceilings: Ceilings) -> Iterator[_Row]:
    hedge = about(ceilings)
    for precision, figure in ceilings.matmul_flops_per_s.items():
        yield _row(f"matrix product, {precision}", figure, format.flops_rate, hedge)
    for threads, figure in ceilings.matmul_threads_flops_per_s.items():
        what = "1 thread" if threads == "1" else f"{threads} threads"
        yield _row(f"product, fp32, {what}", figure, format.flops_rate, hedge)
    for label, field in _RATES:
        rate: Figure | None = getattr(ceilings, field)
        if rate is not None:
            yield _row(label, rate, format.data_rate, hedge)
    launch = "one operation (dispatch)" if ceilings.device == "cpu" else "one launch"
    if ceilings.launch_us is not None:
        yield _row(launch, ceilings.launch_us, _microseconds, hedge)
    if ceilings.graph_launch_us is not None:
        yield _row("one launch in a CUDA graph", ceilings.graph_launch_us, _microseconds, hedge)


def _row(label: str, figure: Figure, in_unit: Callable[[float], str], hedge: str) -> _Row:
    low, high = in_unit(figure.q25), in_unit(figure.q75)
    number, _, unit = low.partition(" ")
    low = number if high.endswith(f" {unit}") else low
    return label, f"{hedge}{in_unit(figure.median)}", f"{low} – {high}", str(figure.repeats)


def _microseconds(value_us: float) -> str:
    return f"{format.significant(value_us)} µs"
