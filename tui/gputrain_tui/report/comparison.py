"""Several sessions side by side: the top of a page that tells of more than one."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from gputrain_runner.recordings.bootstrap import Ratio, series
from gputrain_runner.recordings.compare import Comparison, Row, compare
from gputrain_runner.report.story import Story

from .. import format
from ..quantities import judgement, quantity
from .charts import BLUE, GREY, Chart, base, rounded
from .html import Html, Part, element, join, section, table
from .page import Page


def letter(number: int) -> str:
    """A, B, ... Z, then 27, 28 ...: what a session is called in the comparison."""
    return ascii_uppercase[number] if number < len(ascii_uppercase) else str(number + 1)


def comparison(page: Page, stories: Sequence[Story], groups: Sequence[str]) -> Html:
    """What each was, what was set differently, and every quantity of each with its ratio to the first."""
    sides = [story.side for story in stories]
    first = next((at for at, side in enumerate(sides) if side is not None), None)
    compared: list[Comparison | None] = [None] * len(stories)
    if first is not None:
        base = sides[first]
        assert base is not None
        compared = [None if side is None else compare(base, side, anyway=True) for side in sides]
    known = [found for found in compared if found is not None]
    return section(
        "Side by side",
        _sessions(stories, groups),
        _rates(page, stories),
        _settings(stories),
        _quantities(compared, first or 0),
        _warnings(known),
        note=(
            "Compared are the steady samples under the last settings of each. A ratio is over the first; in "
            "brackets is the interval in which the true one lies 19 times out of 20."
        ),
    )


def _sessions(stories: Sequence[Story], groups: Sequence[str]) -> Html:
    rows = [
        (
            element("a", letter(at), href=f"#{group}"),
            story.preset_name,
            story.device_name(story.settings.device),
            story.header.session.started_at[:19].replace("T", " "),
            format.elapsed(story.length_s),
            element("code", story.path.name),
        )
        for at, (story, group) in enumerate(zip(stories, groups, strict=True))
    ]
    return table(("", "preset", "device", "started (UTC)", "for", "file"), rows, left=range(6))


def _rates(page: Page, stories: Sequence[Story]) -> Html:
    """Samples/s of each, with the quartiles."""
    told = [
        (f"{letter(at)}  {story.preset_name}, {story.side.settings.device}", rate)
        for at, story in enumerate(stories)
        if story.side is not None
        and (rate := series([each.samples_per_s for each in story.side.samples if each.samples_per_s]))
    ]
    if not told:
        return Html("")
    wide = max(len(label) for label, _ in told)
    layout = base("")
    layout |= {"hovermode": "closest", "showlegend": False, "bargap": 0.45}
    layout["margin"] |= {"l": min(330, 24 + 7 * wide), "b": 42}
    layout["xaxis"] |= {
        "title": {"text": "samples/s", "standoff": 4},
        "showgrid": True,
        "rangemode": "tozero",
    }
    layout["yaxis"] |= {"autorange": "reversed", "type": "category"}
    bars = {
        "type": "bar",
        "orientation": "h",
        "y": [label for label, _ in told],
        "x": rounded(rate.median for _, rate in told),
        "marker": {"color": BLUE},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": rounded(rate.q75 - rate.median for _, rate in told),
            "arrayminus": rounded(rate.median - rate.q25 for _, rate in told),
            "color": GREY,
        },
        "hovertemplate": "%{x:,.4~r} samples/s<extra></extra>",
    }
    note = "Medians, with the quartiles."
    return page.chart(Chart("Throughput", [bars], layout, note, 80 + 34 * len(told)))


def _settings(stories: Sequence[Story]) -> Html:
    """The settings that are not the same in all."""
    ends = [story.side.settings if story.side is not None else story.settings for story in stories]
    rows = []
    for name in ends[0].__struct_fields__:
        values = [end.value(name) for end in ends]
        if len(set(values)) > 1:
            told = [format.UNKNOWN if value is None else format.setting(name, value) for value in values]
            rows.append((format.setting_label(name), *told))
    if not rows:
        return element("p", "The settings are the same in all.", class_="note")
    head = ("settings that differ", *(letter(at) for at in range(len(stories))))
    return table(head, rows, left=range(1 + len(stories)))


def _quantities(compared: Sequence[Comparison | None], first: int) -> Html:
    rows_of = [
        {} if found is None else {(row.group, row.name): row for row in found.rows} for found in compared
    ]
    keys = list(dict.fromkeys(key for rows in rows_of for key in rows))
    rows: list[list[Part]] = []
    group = ""
    for key in keys:
        if key[0] != group:
            group = key[0]
            rows.append([element("span", group, class_="dim"), *([""] * (2 * len(compared) - 1))])
        row: list[Part] = [key[1]]
        for at, known in enumerate(rows_of):
            row += _cells(known.get(key), first=at == first)
        rows.append(row)
    if not keys:
        return Html("")
    head: list[Part] = [""]
    for at in range(len(compared)):
        head += [letter(at)] if at == first else [letter(at), f"÷ {letter(first)}"]
    return table(head, rows)


def _cells(row: Row | None, *, first: bool) -> list[Part]:
    value = format.UNKNOWN if row is None else quantity(row.b, row.unit)
    if first:
        return [value]
    return [value, "" if row is None or row.ratio is None else _ratio(row.ratio)]


def _ratio(told: Ratio) -> Html:
    text = f"{format.ratio(told.ratio)} ({format.significant(told.low)}–{format.significant(told.high)})"
    return element("span", text, class_="big" if told.beyond_noise else "dim", title=judgement(told))


def _warnings(compared: Sequence[Comparison]) -> Html:
    told = dict.fromkeys(warning for found in compared for warning in found.warnings)
    return element("ul", *(element("li", warning) for warning in told)) if told else join([])
