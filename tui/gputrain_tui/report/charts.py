"""Charts as the figures that Plotly's library takes: plain dictionaries, drawn in the page.

Colours of text, grids and marks are the page's style sheet's, so that one chart suits light, dark and
paper. (Figure format: Plotly's JSON chart schema.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gputrain_runner.report.thinning import extremes, means

Trace = dict[str, Any]

BLUE, ORANGE, GREEN, SKY, RED, PINK, GREY = (
    "#2f7fd6",
    "#e08a00",
    "#12967a",
    "#5ab4e5",
    "#d5552b",
    "#c470a4",
    "#9097a0",
)
"""After Okabe and Ito, told apart by colour-blind eyes; for dark pages and white ones."""

OF_PHASE = {
    "data": ORANGE,
    "h2d": PINK,
    "forward": SKY,
    "backward": BLUE,
    "optimizer": GREEN,
    "other": GREY,
}


@dataclass(slots=True)
class Chart:
    """A figure, its title and what it shows in words."""

    title: str
    data: list[Trace]
    layout: dict[str, Any]
    note: str = ""
    height: int = 230
    group: str = ""
    """Charts of one group are zoomed together."""
    half: bool = False
    """Whether two stand side by side."""


@dataclass(frozen=True, slots=True)
class Times:
    """The time axis that a session's charts share, and the changes that are marked on it."""

    group: str
    length_s: float
    marks: Sequence[tuple[float, str]] = field(default_factory=tuple)
    """When, and what to write there."""


_MONTH_MS = 31 * 86_400_000
"""Plotly takes numbers below 10,000 on a time axis for years, so a session cannot begin at 0."""
_LENGTHS = ((86_400.0, "day %-d, %H:%M", 42), (3600.0, "%H:%M:%S", 30), (0.0, "%M:%S", 20))
"""How times are written on the axis of a session of at least so many seconds; pixels for half of the last."""
_LEGEND_PX = 37
"""Height of a legend's row with its distances; where less is left the library draws all of it twice."""
MOST_NUMBERED = 40
"""With more changes than this their numbers would cover each other."""


def moments(t: Iterable[float]) -> list[int]:
    """Seconds as the time axis takes them: ms since 1970, the session's beginning a first of a month."""
    return [_MONTH_MS + round(value * 1e3) for value in t]


def rounded(values: Iterable[float], scale: float = 1.0) -> list[float | None]:
    """To five digits, which is more than a screen shows; null where not measured."""
    return [None if math.isnan(value) else float(f"{value / scale:.5g}") for value in values]


def line(
    t: Sequence[float],
    values: Sequence[float],
    name: str,
    colour: str,
    *,
    scale: float = 1.0,
    digits: str = ".3~s",
    unit: str = "",
    **style: Any,
) -> Trace:
    """A line over time, thinned; `scale` is what values are divided by, `digits` a d3 format."""
    kept_t, kept = extremes(t, values)
    known = sum(not math.isnan(value) for value in kept)
    return {
        "type": "scatter",
        "mode": "lines+markers" if known < 30 else "lines",
        "marker": {"size": 4},
        "name": name,
        "x": moments(kept_t),
        "y": rounded(kept, scale),
        "line": {"color": colour, "width": 1.4, **style},
        "hovertemplate": f"%{{y:{digits}}} {unit}".rstrip(),
    }


def level(t: tuple[float, float], value: float, name: str, *, unit: str = "", digits: str = ".3~s") -> Trace:
    """A limit: a dashed line at that value."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": moments(t),
        "y": rounded([value, value]),
        "line": {"color": GREY, "width": 1.2, "dash": "dot"},
        "hovertemplate": f"%{{y:{digits}}} {unit}".rstrip(),
    }


def stacked(
    t: Sequence[float], parts: Mapping[str, Sequence[float]], colours: Mapping[str, str]
) -> list[Trace]:
    """Areas on top of each other, thinned to means: they add up."""
    kept_t, kept = means(t, list(parts.values()))
    rows = _without_gaps(kept_t, list(zip(*kept, strict=True)))
    x = moments(at for at, _ in rows)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "stackgroup": "one",
            "name": name,
            "x": x,
            "y": rounded(row[number] for _, row in rows),
            "line": {"color": colours[name], "width": 0.5},
            "hovertemplate": "%{y:.3~f} ms",
        }
        for number, name in enumerate(parts)
    ]


def _without_gaps(
    t: Sequence[float], rows: Sequence[tuple[float, ...]]
) -> list[tuple[float, tuple[float, ...]]]:
    """Rows for stacked areas: those where nothing was measured leave their first and last, at 0.

    An area knows no gap: without these it would be drawn straight across.
    """
    empty = [all(math.isnan(value) for value in row) for row in rows]
    kept = []
    for at, (time, row) in enumerate(zip(t, rows, strict=True)):
        if not empty[at]:
            kept.append((time, row))
        elif at in (0, len(rows) - 1) or not empty[at - 1] or not empty[at + 1]:
            kept.append((time, (0.0,) * len(row)))
    return kept


def over_time(
    title: str,
    traces: list[Trace],
    times: Times,
    y: str,
    *,
    note: str = "",
    height: int = 230,
    numbered: bool = False,
    half: bool = False,
    **y_axis: Any,
) -> Chart:
    """A chart over the session's time; `numbered` writes the changes' numbers above their lines."""
    layout = base(y, **y_axis)
    written, room = next((form, room) for least, form, room in _LENGTHS if times.length_s >= least)
    layout["margin"]["r"] = room
    layout["xaxis"] |= {
        "type": "date",
        "range": moments([0.0, times.length_s]),
        "tickformat": written,
        "ticklabeloverflow": "allow",
        "hoverformat": "%H:%M:%S.%L",
        "nticks": 5 if half else 10,
    }
    layout["shapes"] = [_mark(t) for t, _ in times.marks]
    numbered = numbered and len(times.marks) <= MOST_NUMBERED
    if numbered:
        layout["annotations"] = [_number(t, text) for t, text in times.marks]
        layout["margin"]["t"] += 18
    layout["showlegend"] = len(traces) > 1
    if layout["showlegend"]:
        layout["margin"]["t"] += _LEGEND_PX
        layout["legend"]["y"] = 1.0 + (0.12 if numbered else 0.02)
    return Chart(title, traces, layout, note, height, times.group, half)


def base(y: str, **y_axis: Any) -> dict[str, Any]:
    """What all charts have in common."""
    return {
        "margin": {"l": 64, "r": 14, "t": 8, "b": 30},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12},
        "hovermode": "x unified",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "xaxis": {"showgrid": False, "ticks": "outside", "ticklen": 4},
        "yaxis": {
            "title": {"text": y, "font": {"size": 12}, "standoff": 8},
            "rangemode": "tozero",
            "zeroline": False,
            "nticks": 6,
            "fixedrange": True,
            "ticklabeloverflow": "allow",
            **y_axis,
        },
    }


def _mark(t: float) -> dict[str, Any]:
    (at,) = moments([t])
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": at,
        "x1": at,
        "y0": 0,
        "y1": 1,
        "line": {"width": 1, "dash": "dot", "color": GREY},
        "layer": "below",
    }


def _number(t: float, text: str) -> dict[str, Any]:
    return {
        "x": moments([t])[0],
        "y": 1,
        "xref": "x",
        "yref": "paper",
        "yanchor": "bottom",
        "text": text,
        "showarrow": False,
        "font": {"size": 11},
    }
