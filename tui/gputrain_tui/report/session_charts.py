"""The charts of a session: throughput, settings, steps, kinds of work, loss and effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gputrain_runner.report.columns import SampleColumns
from gputrain_runner.report.story import Story, Stretch
from gputrain_runner.timeline import PHASES

from .. import format
from .charts import (
    BLUE,
    GREEN,
    GREY,
    OF_PHASE,
    ORANGE,
    PINK,
    RED,
    SKY,
    Chart,
    Times,
    Trace,
    base,
    line,
    moments,
    over_time,
    rounded,
    stacked,
)

_OF_WORK = {
    "matmul": BLUE,
    "convolution": SKY,
    "recurrence": "#7a6bd1",
    "normalisation": PINK,
    "elementwise": ORANGE,
    "reduction": "#b9a300",
    "optimizer": GREEN,
    "copy": RED,
    "other": GREY,
}
_LEFT = 88
"""Room for the settings' names; the throughput above them is aligned with it."""
LOG_BEYOND = 30.0
"""Where the largest loss is more than so many times the smallest its axis is logarithmic."""


def times_of(story: Story, group: str) -> Times:
    """The time axis, with the changes that worked."""
    marks = [(turned.change.t, str(turned.number)) for turned in story.turned if turned.change.ok]
    return Times(group, max(story.length_s, 1.0), marks)


def throughput(story: Story, times: Times) -> Chart | None:
    """Samples/s, and the median of each stretch's steady samples."""
    samples = story.samples
    if not samples.known("samples_per_s"):
        return None
    medians_t: list[float] = []
    medians: list[float] = []
    for stretch in story.stretches:
        rate = story.rate(stretch)
        if rate is not None:
            medians_t += [stretch.begin_s, stretch.end_s, stretch.end_s]
            medians += [rate.median, rate.median, math.nan]
    measured = line(samples.t, samples["samples_per_s"], "each sample", SKY, digits=",.4~r")
    median: Trace = {
        "type": "scatter",
        "mode": "lines",
        "name": "median while steady",
        "x": moments(medians_t),
        "y": rounded(medians),
        "line": {"color": BLUE, "width": 2.4},
        "hovertemplate": "%{y:,.4~r}",
    }
    note = "Dotted lines are changes; their numbers are those of the table below." if times.marks else ""
    chart = over_time(
        "Throughput", [measured, median], times, "samples/s", note=note, height=280, numbered=True
    )
    chart.layout["margin"]["l"] = _LEFT
    return chart


def settings_over_time(story: Story, times: Times) -> Chart | None:
    """A row for each setting that was not the same throughout, its values as bars."""
    names = [name for name in story.settings.__struct_fields__ if len(_values(story.stretches, name)) > 1]
    if not names:
        return None
    data: list[Trace] = []
    for name in names:
        runs = _runs(story.stretches, name)
        values = list(dict.fromkeys(text for _, _, text in runs))
        colours = (BLUE, GREEN, ORANGE, PINK, RED, "#7a6bd1", GREY)
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": [format.setting_label(name)] * len(runs),
                "base": moments(begin for begin, _, _ in runs),
                "x": [round((end - begin) * 1e3) for begin, end, _ in runs],
                "text": [text for _, _, text in runs],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "hovertext": [f"{format.setting_label(name)} {text}" for _, _, text in runs],
                "hoverinfo": "text",
                "marker": {"color": [colours[values.index(text) % len(colours)] for _, _, text in runs]},
                "showlegend": False,
            }
        )
    chart = over_time("Settings over time", data, times, "", height=56 + 30 * len(names))
    chart.layout["yaxis"] |= {"autorange": "reversed", "type": "category", "showgrid": False}
    chart.layout["yaxis"]["tickfont"] = {"size": 11}
    chart.layout |= {"showlegend": False, "barmode": "overlay", "bargap": 0.25, "hovermode": "closest"}
    chart.layout["margin"]["t"] = 8
    chart.layout["margin"]["l"] = _LEFT
    chart.note = "Only what was not the same throughout."
    return chart


def _values(stretches: Sequence[Stretch], name: str) -> set[object]:
    return {stretch.settings.value(name) for stretch in stretches}


def _runs(stretches: Sequence[Stretch], name: str) -> list[tuple[float, float, str]]:
    """Begin, end and value of each time in which the setting was the same."""
    runs: list[tuple[float, float, str]] = []
    for stretch in stretches:
        text = format.setting(name, stretch.settings.value(name))
        if runs and runs[-1][2] == text:
            runs[-1] = (runs[-1][0], stretch.end_s, text)
        else:
            runs.append((stretch.begin_s, stretch.end_s, text))
    return runs


def steps(story: Story, times: Times) -> list[Chart]:
    """Where a step's time goes: on the host, and where there is one on the device."""
    samples = story.samples
    charts = []
    host = _phases(samples, "host_ms")
    if host:
        spread = line(
            samples.t,
            samples["step_p95_ms"],
            "95th percentile of the step",
            GREY,
            digits=".3~f",
            unit="ms",
            dash="dot",
        )
        traces = [*stacked(samples.t, host, OF_PHASE), spread]
        note = "Mean time of each phase of a step on the host; together they are the step."
        charts.append(
            over_time("Where a step's time goes: host", traces, times, "ms a step", note=note, height=280)
        )
    device = _phases(samples, "device_ms")
    if device:
        step = line(samples.t, samples["step_mean_ms"], "the whole step", GREY, digits=".3~f", unit="ms")
        traces = [*stacked(samples.t, device, OF_PHASE), step]
        note = (
            "Time of each phase on the device; the room up to the whole step is time in which it waited, "
            "or did what overlaps."
        )
        charts.append(
            over_time("Where a step's time goes: device", traces, times, "ms a step", note=note, height=280)
        )
    return charts


def _phases(samples: SampleColumns, side: str) -> dict[str, Sequence[float]]:
    return {name: samples[f"{name}_{side}"] for name in PHASES if samples.known(f"{name}_{side}")}


def work(story: Story) -> Chart | None:
    """What the work of a step consists of: the last profile of each stretch."""
    bars: list[tuple[str, dict[str, float]]] = []
    for number, stretch in enumerate(story.stretches, start=1):
        of = [profile for t, profile in story.profiles if stretch.begin_s < t <= stretch.end_s]
        if of:
            label = f"{number}. from {format.clock(stretch.begin_s)}"
            bars.append((label, {kind: each.ms for kind, each in of[-1].work.items()}))
    if not bars:
        return None
    data: list[Trace] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": kind,
            "y": [label for label, _ in bars],
            "x": [None if kind not in of else float(f"{of[kind]:.5g}") for _, of in bars],
            "marker": {"color": colour},
            "hovertemplate": "%{x:.3~f} ms",
        }
        for kind, colour in _OF_WORK.items()
        if any(kind in of for _, of in bars)
    ]
    layout = base("")
    layout |= {"barmode": "stack", "hovermode": "y unified", "bargap": 0.3}
    layout["xaxis"] |= {"title": {"text": "ms a step", "standoff": 4}, "rangemode": "tozero"}
    layout["yaxis"] |= {"autorange": "reversed", "type": "category"}
    layout["margin"] |= {"l": 110, "t": 44, "b": 42}
    note = (
        "Kernels by what they do (on a CPU: operators), from a burst of profiled steps under each settings."
    )
    return Chart("What the work consists of", data, layout, note, 90 + 28 * len(bars))


def loss(story: Story, times: Times) -> Chart | None:
    """The training loss, and that of each validation."""
    samples = story.samples
    values = samples.values("loss")
    if not values:
        return None
    traces = [line(samples.t, samples["loss"], "training", BLUE, digits=".4~g")]
    known = [(t, of.loss) for t, of in story.validations if of.loss is not None]
    if known:
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "validation",
                "x": moments(t for t, _ in known),
                "y": rounded(value for _, value in known),
                "line": {"color": ORANGE, "width": 1.4},
                "marker": {"size": 5},
                "hovertemplate": "%{y:.4~g}",
            }
        )
    steep = min(values) > 0 and max(values) > LOG_BEYOND * min(values)
    axis: dict[str, Any] = {"type": "log", "rangemode": "normal", "dtick": 1} if steep else {}
    return over_time("Loss", traces, times, "loss" + (" (log)" if steep else ""), **axis)
