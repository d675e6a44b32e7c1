"""What changes did, as a chart: each effect with its spread, and what was predicted of it."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.report.story import Story
from gputrain_runner.timeline import Effect

from .. import format
from .charts import BLUE, ORANGE, Chart, Trace, base, rounded

MOST_EFFECTS = 30


def effects(story: Story) -> Chart | None:
    """The last effects, as multiples of the throughput before; none where there are none."""
    told = [(turned, turned.effect) for turned in story.turned if turned.effect is not None][-MOST_EFFECTS:]
    if not told:
        return None
    labels = []
    for turned, _ in told:
        change = turned.change
        what = format.setting_change(change.setting, change.from_, change.to)
        labels.append(f"{turned.number}. {what}")
    of = [effect for _, effect in told]
    data = [_measured(labels, of), *_predicted(labels, of)]
    layout = base("")
    layout |= {"hovermode": "closest", "showlegend": len(data) > 1}
    layout["margin"] |= {"l": min(330, 24 + 7 * max(map(len, labels))), "t": 41, "b": 44}
    layout["legend"] |= {"y": 1.0}
    ends = [
        value for each in of for value in (each.ratio_low, each.ratio_high, each.predicted_ratio) if value
    ]
    axis = {"type": "log"} if max(ends) > 4 * min(ends) else {"rangemode": "normal"}
    title = {"text": "samples/s after ÷ before", "standoff": 6}
    layout["xaxis"] |= {"title": title, "showgrid": True, **axis}
    layout["yaxis"] |= {"autorange": "reversed", "type": "category", "categoryarray": labels}
    one = {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": {"width": 1}}
    layout["shapes"] = [one]
    return Chart("Effects", data, layout, "", 96 + 30 * len(told))


def _measured(labels: Sequence[str], effects: Sequence[Effect]) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "measured",
        "y": list(labels),
        "x": rounded(effect.ratio for effect in effects),
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": rounded(effect.ratio_high - effect.ratio for effect in effects),
            "arrayminus": rounded(effect.ratio - effect.ratio_low for effect in effects),
            "color": BLUE,
            "thickness": 1.6,
            "width": 4,
        },
        "marker": {"color": BLUE, "size": 9},
        "hovertemplate": "measured ×%{x:.3~g}",
    }


def _predicted(labels: Sequence[str], effects: Sequence[Effect]) -> list[Trace]:
    """One trace, or none where nothing was predicted."""
    known = [
        (label, effect.predicted_ratio)
        for label, effect in zip(labels, effects, strict=True)
        if effect.predicted_ratio is not None
    ]
    trace: Trace = {
        "type": "scatter",
        "mode": "markers",
        "name": "predicted",
        "y": [label for label, _ in known],
        "x": rounded(ratio for _, ratio in known),
        "marker": {"color": ORANGE, "size": 11, "symbol": "diamond-open", "line": {"width": 2}},
        "hovertemplate": "predicted ×%{x:.3~g}",
    }
    return [trace] if known else []
