"""A sweep's result as the tables people look for: nets by devices, and time by batch size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputrain_runner.settings import Settings, Value
from gputrain_runner.sweep.result import Fit, Ms, PointResult, SweepFile

from . import format
from .commands.table import table

MISSING = {"out_of_memory": "missing", "failed": "failed", "timed_out": "timed out"}
"""What stands for a time that there is none of; a point out of memory is missing, as published."""
_HEADS = {"forward": "forward", "training": "forward+backward"}
_NAMED = ("device", "batch_size", "model_size", "passes")
"""Settings that the tables have places for."""


def as_text(sweep: SweepFile) -> str:
    """All of it: the comparison, a table for each line over batch sizes, and what went wrong."""
    parts = [*nets_by_devices(sweep), *by_batch_size(sweep)]
    problems = [
        f"{label(each)}: {MISSING[each.outcome]}: {each.error}" for each in sweep.points if each.error
    ]
    if problems:
        parts.append("\n".join(problems))
    if not sweep.complete:
        parts.append(f"not complete: {len(sweep.points)} of {sweep.planned} points are measured")
    if any(each.noisy for each in sweep.points):
        parts.append("~ noisy: the middle half of its steps is more than 10 % of the median apart")
    return "\n\n".join(parts)


def nets_by_devices(sweep: SweepFile) -> Iterator[str]:
    """The published layout: a row for each net, for each device forward and forward+backward, in ms."""
    batches = sorted({each.settings.batch_size for each in sweep.points})
    devices = _in_order(each.settings.device for each in sweep.points)
    passes = _in_order(each.passes for each in sweep.points)
    names = {each.device: each.name or each.device for each in sweep.devices}
    for batch in batches:
        points = [each for each in sweep.points if each.settings.batch_size == batch]
        rows: list[tuple[str, ...]] = [
            (
                "",
                *(
                    names.get(device, device) if at == 0 else ""
                    for device in devices
                    for at in range(len(passes))
                ),
            ),
            ("net", *(_HEADS[which] for _ in devices for which in passes)),
        ]
        for net in _in_order(_net(each, sweep) for each in points):
            cells = [
                _cell(
                    [
                        each
                        for each in points
                        if (_net(each, sweep), each.settings.device, each.passes) == (net, device, which)
                    ]
                )
                for device in devices
                for which in passes
            ]
            rows.append((net, *cells))
        yield "\n".join([f"batch {batch:,}, ms: median of {_runs(points)} steps", *table(rows)])


def by_batch_size(sweep: SweepFile) -> Iterator[str]:
    """For each net and device that has several batch sizes: time against batch size, and the line."""
    for family in _families(sweep.points):
        if len({each.settings.batch_size for each in family}) < 2:
            continue
        first = family[0]
        head = f"{_net(first, sweep)} on {first.settings.device}, {_HEADS[first.passes]}"
        rows = [("batch", "ms", "IQR", "ms/sample", "samples/s", "whole step ms", "peak memory")]
        rows += [_batch_row(each) for each in sorted(family, key=lambda each: each.settings.batch_size)]
        lines = [head, *table(rows, left=())]
        lines += [line for each in sweep.fits if _is_of(each, first) for line in fit_lines(each)]
        yield "\n".join(lines)


def fit_lines(fit: Fit) -> list[str]:
    """What the line says, in words."""
    worst = max(abs(residual) for residual in fit.residuals)
    half = "" if fit.half is None else f"; half of that is reached at batch {fit.half:.3g}"
    told = [
        f"t(b) = {fit.a_ms:.3g} ms + {fit.c_ms:.3g} ms · b, within {worst:.1%}{half}",
        f"least time per sample at batch {fit.best:,}"
        + ("" if fit.bend in (None, fit.best) else f"; from batch {fit.bend:,} on within 10 % of it"),
    ]
    for batches, word in ((fit.worse_than_fit, "slower"), (fit.better_than_fit, "faster")):
        if batches:
            told.append(f"{word} than the line: batch {', '.join(f'{batch:,}' for batch in batches)}")
    return told


def label(point: PointResult) -> str:
    """One point in words."""
    now = point.settings
    return f"{point.preset} {format.setting('model_size', now.model_size)}, {now.device}, batch {now.batch_size:,}, {point.passes}"


def csv_rows(sweep: SweepFile) -> Iterator[list[object]]:
    """The head, then one row for each point."""
    settings = [name for name in Settings.__struct_fields__]
    figures = ("forward_ms", "forward_backward_ms", "step_ms")
    single = ("samples_per_s", "ms_per_sample", "peak_memory_bytes", "flops_per_s", "share_of_ceiling")
    telemetry = sorted({name for each in sweep.points for name in each.telemetry or {}})
    parts = ("median", "iqr", "min", "max")
    yield [
        "preset",
        *settings,
        "outcome",
        "error",
        "runs",
        *(f"{figure}_{part}" for figure in figures for part in parts),
        *single,
        "noisy",
        *telemetry,
    ]
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


def _net(point: PointResult, sweep: SweepFile) -> str:
    """Preset and size, and every other setting that is not the same all over the sweep."""
    varied = [
        name
        for name in Settings.__struct_fields__
        if name not in _NAMED and len({each.settings.value(name) for each in sweep.points}) > 1
    ]
    size = format.setting("model_size", point.settings.model_size)
    extra = [
        _short(name, point.settings.value(name)) for name in varied if point.settings.value(name) is not None
    ]
    return " ".join([point.preset, size, *extra])


def _short(name: str, value: Value) -> str:
    return f"{name}={value}"


def _cell(found: Sequence[PointResult]) -> str:
    """A time as published; of several points that the table cannot tell apart, the first."""
    if not found:
        return ""
    point = found[0]
    if point.ms is None:
        return MISSING[point.outcome]
    return f"{_ms(point.ms)}{'~' if point.noisy else ''}"


def _ms(ms: Ms) -> str:
    return f"{ms.median:,.2f}" if ms.median >= 1 else f"{ms.median:.3g}"


def _batch_row(each: PointResult) -> tuple[str, ...]:
    batch = f"{each.settings.batch_size:,}"
    if each.ms is None or each.step_ms is None or each.ms_per_sample is None:
        return batch, MISSING[each.outcome], "", "", "", "", ""
    return (
        batch,
        f"{_ms(each.ms)}{'~' if each.noisy else ''}",
        f"{each.ms.iqr / each.ms.median:.1%}",
        f"{each.ms.median / (each.settings.batch_size * each.settings.models_at_once):.3g}",
        format.count(each.samples_per_s),
        _ms(each.step_ms),
        format.memory(each.peak_memory_bytes),
    )


def _families(points: Sequence[PointResult]) -> list[list[PointResult]]:
    families: dict[tuple[object, ...], list[PointResult]] = {}
    for each in points:
        key = tuple(each.settings.value(name) for name in Settings.__struct_fields__ if name != "batch_size")
        families.setdefault((each.preset, *key), []).append(each)
    return list(families.values())


def _is_of(fit: Fit, point: PointResult) -> bool:
    names = [name for name in Settings.__struct_fields__ if name != "batch_size"]
    return fit.preset == point.preset and all(
        fit.settings.value(name) == point.settings.value(name) for name in names
    )


def _runs(points: Sequence[PointResult]) -> str:
    runs = sorted({each.runs for each in points if each.outcome == "ok"})
    return f"{runs[0]}–{runs[-1]}" if len(runs) > 1 else str(runs[0]) if runs else "no"


def _in_order(values: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(values))
