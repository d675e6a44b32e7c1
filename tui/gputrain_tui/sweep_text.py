"""A sweep's result as the tables people look for: nets by devices, and time by batch size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from gputrain_runner.settings import Settings, Value
from gputrain_runner.sweep.fits import family_of
from gputrain_runner.sweep.result import Fit, Ms, PointResult, SweepFile

from . import format
from .commands.table import table
from .commands.text_plot import MARKS, log_plot

MISSING = {"out_of_memory": "missing", "failed": "failed", "timed_out": "timed out"}
"""What stands for a time that there is none of; a point out of memory is missing, as published."""
PASSES = {"forward": "forward", "training": "forward+backward"}
"""What is measured, as published tables call it."""
OF_THE_STEP = "samples/s by the whole step"
"""What a point's rate is of; its `ms` and `ms/sample` are of `PASSES` alone."""
_NAMED = ("device", "batch_size", "model_size", "passes")
"""Settings that the tables have places for."""
FEWEST_TO_PLOT = 3


class Placed(Protocol):
    """What belongs to a point."""

    @property
    def preset(self) -> str:
        """What the sweep calls it."""

    @property
    def settings(self) -> Settings:
        """Those of the point."""


NO_LINE = 0.5
"""A line that is off by half of a time somewhere says nothing."""


def as_text(sweep: SweepFile) -> str:
    """All of it: the comparison, a table and a plot for what has several batch sizes, what went wrong."""
    parts = [*nets_by_devices(sweep), *by_batch_size(sweep), *plots(sweep)]
    problems = [
        f"{label(each)}: {MISSING.get(each.outcome, 'note')}: {each.error}"
        for each in sweep.points
        if each.error
    ]
    if problems:
        parts.append("\n".join(problems))
    if not sweep.complete:
        parts.append(f"not complete: {len(sweep.points)} of {sweep.planned} points are measured")
    if any(each.noisy for each in sweep.points):
        parts.append("~ noisy: the middle half of its steps is more than 10 % of the median apart")
    return "\n\n".join(parts)


def nets_by_devices(sweep: SweepFile) -> Iterator[str]:
    """The published layout: a row for each net, for each device forward and forward+backward, in ms.

    One table for each batch size; none where the tables by batch size hold all of it on fewer lines.
    """
    batches = sorted({each.settings.batch_size for each in sweep.points})
    devices = _in_order(each.settings.device for each in sweep.points)
    passes = _in_order(each.passes for each in sweep.points)
    net_of = nets(sweep)
    if len(batches) > 1 and len({net_of(each) for each in sweep.points}) == 1:
        return
    head = [
        ("", *(name if at == 0 else "" for name in _names(devices, sweep) for at in range(len(passes)))),
        ("net", *(PASSES[which] for _ in devices for which in passes)),
    ]
    for batch in batches:
        points = [each for each in sweep.points if each.settings.batch_size == batch]
        cells = {
            (net_of(each), each.settings.device, each.passes): cell(each)
            for each in reversed(points)  # Of points that the table cannot tell apart, the first.
        }
        rows = [
            (net, *(cells.get((net, device, which), "") for device in devices for which in passes))
            for net in _in_order(net_of(each) for each in points)
        ]
        yield "\n".join([f"batch {batch:,}, ms{_runs(points)}", *table([*head, *rows])])


def by_batch_size(sweep: SweepFile) -> Iterator[str]:
    """For each net and device that has several batch sizes: time against batch size, and the line."""
    net_of = nets(sweep)
    for family in families(sweep.points):
        if len(family) < 2:
            continue
        first = family[0]
        head = f"{net_of(first)} on {first.settings.device}, {PASSES[first.passes]}; {OF_THE_STEP}"
        rows = [
            ("batch", "ms", "IQR", "ms/sample", "whole step ms", "samples/s", "peak memory"),
            *(_batch_row(each) for each in family),
        ]
        lines = [head, *table(rows, left=())]
        own = next((each for each in sweep.fits if family_of(each) == family_of(first)), None)
        yield "\n".join([*lines, *(fit_lines(own) if own is not None else ())])


def plots(sweep: SweepFile) -> Iterator[str]:
    """For each net that has them: its curves, time against batch size."""
    net_of = nets(sweep)
    devices = {each.settings.device for each in sweep.points}
    by_net: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for family in families(sweep.points):
        measured = [
            (float(each.settings.batch_size), each.ms.median) for each in family if each.ms is not None
        ]
        if len(measured) >= FEWEST_TO_PLOT:
            first = family[0]
            name = PASSES[first.passes] if len(devices) == 1 else f"{first.settings.device} {first.passes}"
            by_net.setdefault(net_of(first), {})[name] = measured
    for net, curves in by_net.items():
        shown = dict(list(curves.items())[: len(MARKS)])
        yield log_plot(shown, x_label="batch", y_label=f"{net}, ms")


def fit_lines(fit: Fit) -> list[str]:
    """What the line says, in words."""
    worst = max(abs(residual) for residual in fit.residuals)
    if fit.c_ms <= 0 or worst > NO_LINE:
        return [f"no line t(b) = a + c · b fits these times; least time per sample at batch {fit.best:,}"]
    half = (
        "" if fit.half is None else f"; n1/2 = {fit.half:.3g}: below that batch a step costs most by itself"
    )
    a, c = format.significant(fit.a_ms), format.significant(fit.c_ms)
    told = [f"t(b) = {a} ms + {c} ms · b, within {worst * 100:.1f} %{half}"]
    bend = "" if fit.bend in (None, fit.best) else f"; from batch {fit.bend:,} on within 10 % of it"
    told.append(f"least time per sample at batch {fit.best:,}{bend}")
    for batches, word in ((fit.worse_than_fit, "slower"), (fit.better_than_fit, "faster")):
        if batches:
            told.append(f"{word} than the line: batch {', '.join(f'{batch:,}' for batch in batches)}")
    return told


def label(point: Placed) -> str:
    """One point in words: `alexnet ×1, cpu, batch 64, training`."""
    now = point.settings
    size = format.setting("model_size", now.model_size)
    return f"{point.preset} {size}, {now.device}, batch {now.batch_size:,}, {now.passes}"


def csv_rows(sweep: SweepFile) -> Iterator[list[object]]:
    """The head, then one row for each point."""
    settings = list(Settings.__struct_fields__)
    figures = ("forward_ms", "forward_backward_ms", "step_ms")
    single = (
        "samples_per_s",
        "ms_per_sample",
        "peak_memory_bytes",
        "flops_per_s",
        "share_of_ceiling",
        "ceiling_noisy",
    )
    telemetry = sorted({name for each in sweep.points for name in each.telemetry or {}})
    parts = ("median", "iqr", "min", "max")
    measured = [f"{figure}_{part}" for figure in figures for part in parts]
    yield ["preset", *settings, "outcome", "error", "runs", *measured, *single, "noisy", *telemetry]
    for each in sweep.points:
        times = [getattr(each, figure) for figure in figures]
        yield [
            each.preset,
            *(each.settings.value(name) for name in settings),
            each.outcome,
            each.error,
            each.runs,
            *(None if ms is None else getattr(ms, part) for ms in times for part in parts),
            *(getattr(each, name) for name in single),
            each.noisy,
            *((each.telemetry or {}).get(name) for name in telemetry),
        ]


def nets(sweep: SweepFile) -> Callable[[Placed], str]:
    """Names a point's net: its preset, its size, and what else is not the same all over the sweep."""
    return net_names(sweep.plan.points if sweep.plan is not None else sweep.points)


def net_names(every: Sequence[Placed]) -> Callable[[Placed], str]:
    """The same, given all of the sweep's points."""
    varied = [
        name
        for name in Settings.__struct_fields__
        if name not in _NAMED and len({each.settings.value(name) for each in every}) > 1
    ]

    def net_of(point: Placed) -> str:
        size = format.setting("model_size", point.settings.model_size)
        own = [(name, point.settings.value(name)) for name in varied]
        extra = [_short(name, value) for name, value in own if value is not None]
        return " ".join([point.preset, size, *extra])

    return net_of


def families(points: Iterable[PointResult]) -> list[list[PointResult]]:
    """Points that differ in batch size alone, small ones first."""
    found: dict[tuple[object, ...], list[PointResult]] = {}
    for each in points:
        found.setdefault(family_of(each), []).append(each)
    return [sorted(family, key=lambda each: each.settings.batch_size) for family in found.values()]


def cell(point: PointResult) -> str:
    """A time as published, or why there is none; `~` where it is noisy."""
    if point.ms is None:
        return MISSING[point.outcome]
    return f"{ms_text(point.ms)}{'~' if point.noisy else ''}"


def ms_text(ms: Ms) -> str:
    """The median."""
    return plain_ms(ms.median)


def plain_ms(ms: float) -> str:
    """Milliseconds without their unit: with two decimals, below 1 with three digits."""
    return f"{ms:,.2f}" if ms >= 1 else f"{ms:#.3g}"


def _short(name: str, value: Value) -> str:
    """Values that are names speak for themselves."""
    return str(value) if isinstance(value, str) else f"{format.setting_label(name)} {value}"


def _names(devices: Sequence[str], sweep: SweepFile) -> list[str]:
    """What the devices are called; those that share a name with another also by PyTorch's."""
    known = {each.device: each.name or each.device for each in sweep.devices}
    names = [known.get(device, device) for device in devices]
    return [
        f"{device} {name}" if names.count(name) > 1 else name
        for device, name in zip(devices, names, strict=True)
    ]


def _batch_row(each: PointResult) -> tuple[str, ...]:
    batch = f"{each.settings.batch_size:,}"
    if each.ms is None or each.step_ms is None:
        return batch, MISSING[each.outcome], "", "", "", "", ""
    samples = each.settings.batch_size * each.settings.models_at_once
    return (
        batch,
        cell(each),
        f"{each.ms.iqr / each.ms.median * 100:.1f} %",
        format.significant(each.ms.median / samples),
        ms_text(each.step_ms),
        format.count(each.samples_per_s),
        format.memory(each.peak_memory_bytes),
    )


def _runs(points: Sequence[PointResult]) -> str:
    """Of how many steps the medians are."""
    runs = sorted({each.runs for each in points if each.outcome == "ok"})
    if not runs:
        return ""
    return f": median of {runs[0]}–{runs[-1]} steps" if len(runs) > 1 else f": median of {runs[0]} steps"


def _in_order(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
