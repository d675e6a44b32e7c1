"""The charts of a sweep: nets by devices, and time against batch size with the fitted lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from gputrain_runner.report.beside import Beside
from gputrain_runner.sweep.fits import family_of
from gputrain_runner.sweep.result import Fit, PointResult, SweepFile

from ..sweep_text import PASSES, families, nets
from .charts import BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY, Chart, Trace, base, rounded

COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, RED, "#7a6bd1", GREY)
FEWEST_FOR_CURVE = 3
"""Batch sizes below which there is no curve to look at."""
MOST_TICKS = 9
_ALONG = 60
"""Points of a drawn line: on logarithmic axes it bends."""


def comparison(sweep: SweepFile, batch: int) -> Chart | None:
    """Every net on every device at one batch size: forward, and forward and backward."""
    points = [each for each in sweep.points if each.settings.batch_size == batch and each.ms is not None]
    if len(points) < 2:
        return None
    net_of = nets(sweep)
    labels = list(dict.fromkeys(net_of(each) for each in points))
    groups = list(dict.fromkeys((each.settings.device, each.passes) for each in points))
    data: list[Trace] = []
    for (device, passes), colour in zip(groups, COLOURS * 9, strict=False):
        own = [each for each in points if (each.settings.device, each.passes) == (device, passes)]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": f"{device} {PASSES[passes]}",
                "y": [net_of(each) for each in own],
                "x": rounded(each.ms.median for each in own if each.ms is not None),
                "marker": {"color": colour},
                "hovertemplate": "%{x:.4~r} ms",
            }
        )
    layout = base("")
    wide = max(len(label) for label in labels)
    layout["margin"] |= {"l": min(330, 24 + 7 * wide), "t": 30, "b": 44}
    layout |= {"barmode": "group", "bargap": 0.25, "hovermode": "y unified", "showlegend": len(data) > 1}
    times = [each.ms.median for each in points if each.ms is not None]
    axis = {"type": "log", "dtick": 1} if max(times) > 50 * min(times) else {"rangemode": "tozero"}
    layout["xaxis"] |= {"title": {"text": "ms", "standoff": 4}, "showgrid": True, **axis}
    layout["yaxis"] |= {"autorange": "reversed", "type": "category", "categoryarray": labels}
    height = 100 + max(26, 15 * len(groups) + 10) * len(labels)
    return Chart(f"Batch {batch:,}: time of each net", data, layout, "Medians.", height)


def curves(sweep: SweepFile, pairs: Mapping[str, Sequence[Beside]]) -> dict[str, list[Chart]]:
    """For each net that has them: time, and time per sample, against the batch size."""
    net_of = nets(sweep)
    by_net: dict[str, list[list[PointResult]]] = {}
    for family in families(sweep.points):
        measured = [each for each in family if each.ms is not None]
        if len(measured) >= FEWEST_FOR_CURVE:
            by_net.setdefault(net_of(measured[0]), []).append(measured)
    fits = {family_of(fit): fit for fit in sweep.fits}
    return {net: _of_net(own, fits, pairs.get(own[0][0].preset, ())) for net, own in by_net.items()}


def _of_net(
    own: Sequence[Sequence[PointResult]], fits: Mapping[tuple[object, ...], Fit], pairs: Sequence[Beside]
) -> list[Chart]:
    times: list[Trace] = []
    per_sample: list[Trace] = []
    for family, colour in zip(own, COLOURS * 9, strict=False):
        name = f"{family[0].settings.device} {PASSES[family[0].passes]}"
        times.append(_measured(family, name, colour))
        per_sample.append(_measured(family, name, colour, per_sample=True))
        fit = fits.get(family_of(family[0]))
        if fit is not None:
            times.append(_line(fit, colour))
            per_sample.append(_line(fit, colour, per_sample=True))
    settings = {(each.settings.model_size, each.passes) for family in own for each in family}
    figures = [pair for pair in pairs if (pair.measured.settings.model_size, pair.figure.passes) in settings]
    if figures:
        times.append(_published(figures))
        per_sample.append(_published(figures, per_sample=True))
    sizes = sorted({each.settings.batch_size for family in own for each in family})
    ticks = sizes[:: -(-len(sizes) // MOST_TICKS)]
    return [
        _against_batch("Time of a batch", times, "ms", ticks),
        _against_batch("Time of a sample", per_sample, "ms a sample", ticks),
    ]


def _against_batch(title: str, data: list[Trace], y: str, ticks: Sequence[int]) -> Chart:
    layout = base(y, type="log", rangemode="normal", dtick=1)
    layout["hovermode"] = "closest"
    layout["legend"] |= {"y": -0.22, "yanchor": "top"}
    layout["margin"] |= {"t": 10, "b": 120}
    layout["xaxis"] |= {
        "type": "log",
        "title": {"text": "batch size", "standoff": 4},
        "tickvals": list(ticks),
        "ticktext": [f"{batch:,}" for batch in ticks],
    }
    return Chart(title, data, layout, "", 400, half=True)


def _measured(family: Sequence[PointResult], name: str, colour: str, *, per_sample: bool = False) -> Trace:
    """The medians; their bars reach from the fastest step to the slowest."""
    known = [(each.settings, each.ms) for each in family if each.ms is not None]
    share = [of.batch_size * of.models_at_once if per_sample else 1 for of, _ in known]
    values = [(ms.median / by, ms.min / by, ms.max / by) for (_, ms), by in zip(known, share, strict=True)]
    unit = "ms a sample" if per_sample else "ms"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [of.batch_size for of, _ in known],
        "y": rounded(median for median, _, _ in values),
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": rounded(most - median for median, _, most in values),
            "arrayminus": rounded(median - least for median, least, _ in values),
            "color": colour,
            "thickness": 1,
            "width": 3,
        },
        "marker": {"color": colour, "size": 7},
        "hovertemplate": f"batch %{{x:,}}: %{{y:.4~r}} {unit}",
    }


def _line(fit: Fit, colour: str, *, per_sample: bool = False) -> Trace:
    """The fitted line over the batch sizes that it is of."""
    low, high = math.log(min(fit.batch_sizes)), math.log(max(fit.batch_sizes))
    x = [math.exp(low + (high - low) * at / _ALONG) for at in range(_ALONG + 1)]
    y = [(fit.a_ms + fit.c_ms * batch) / (batch if per_sample else 1) for batch in x]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "fit",
        "showlegend": False,
        "x": rounded(x),
        "y": [value if value is not None and value > 0 else None for value in rounded(y)],
        "line": {"color": colour, "width": 1.2, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _published(pairs: Sequence[Beside], *, per_sample: bool = False) -> Trace:
    """Published figures as points of reference."""
    known = [(pair.figure, rate) for pair in pairs if (rate := pair.published_samples_per_s)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "published",
        "x": [figure.batch_size for figure, _ in known],
        "y": rounded((1 if per_sample else figure.batch_size) / rate * 1e3 for figure, rate in known),
        "text": [f"{figure.hardware}, {figure.framework}, {PASSES[figure.passes]}" for figure, _ in known],
        "marker": {"color": GREY, "size": 8, "symbol": "x-thin-open", "line": {"width": 1.5}},
        "hovertemplate": "%{text}: batch %{x:,}, %{y:.4~r} ms",
    }


def batches(sweep: SweepFile) -> list[int]:
    """The batch sizes there are."""
    return sorted({each.settings.batch_size for each in sweep.points})


def grid(sweep: SweepFile) -> list[tuple[str, str]]:
    """Devices and passes, as the columns of a comparison."""
    devices = list(dict.fromkeys(each.settings.device for each in sweep.points))
    passes: list[Any] = list(dict.fromkeys(each.passes for each in sweep.points))
    return list(product(devices, passes))
