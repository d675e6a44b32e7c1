"""What was turned and what it did, and the stretches in between, as tables of a page."""

from __future__ import annotations

from gputrain_runner.report.story import Story, Turned
from gputrain_runner.settings import RULES

from .. import format
from .html import Html, Part, element, table


def changes(story: Story) -> Html:
    """Each change with its effect: ratio and spread, and what was predicted."""
    if not story.turned:
        return Html("")
    head = ("", "at", "change", "samples/s before", "after", "measured", "predicted", "")
    return table(head, [_change(turned) for turned in story.turned], left=(0, 1, 2, 7))


def _change(turned: Turned) -> tuple[Part, ...]:
    change, effect = turned.change, turned.effect
    at = (str(turned.number), format.clock(change.t))
    what = format.setting_change(change.setting, change.from_, change.to)
    if not change.ok:
        failed = f"could not be made: {change.error or 'no reason was told'}"
        return *at, what, "", "", "", "", element("span", failed, class_="bad")
    took = (
        "" if change.applied_in_ms is None else f"in force after {format.milliseconds(change.applied_in_ms)}"
    )
    if effect is None:
        return *at, what, "", "", format.UNKNOWN, "", turned.note or took
    chain = "" if effect.since is None else "with the quick changes before it"
    ratio = format.ratio_spread(effect.ratio, effect.ratio_low, effect.ratio_high)
    colour = "good" if effect.ratio_low > 1 else "bad" if effect.ratio_high < 1 else ""
    return (
        *at,
        what,
        format.short(effect.before.samples_per_s),
        format.short(effect.after.samples_per_s),
        element("span", ratio, class_=f"big {colour}".strip()),
        "" if effect.predicted_ratio is None else format.ratio(effect.predicted_ratio),
        "; ".join(text for text in (effect.learnt, chain, took) if text),
    )


def stretches(story: Story) -> Html:
    """The settings over time: a row for each time in which they stayed, with the rate it gave."""
    if not story.stretches:
        return Html("")
    turned = [
        name for name in RULES if len({stretch.settings.value(name) for stretch in story.stretches}) > 1
    ]
    head = ("from", "for", *map(format.setting_label, turned), "samples/s", "quartiles", "step")
    rows = []
    for stretch in story.stretches:
        rate, step = story.rate(stretch), story.step_ms(stretch)
        rows.append(
            (
                format.clock(stretch.begin_s),
                format.lasting(stretch.end_s - stretch.begin_s),
                *(format.setting(name, stretch.settings.value(name)) for name in turned),
                format.UNKNOWN if rate is None else format.count(rate.median),
                "" if rate is None else f"{format.short(rate.q25)}–{format.short(rate.q75)}",
                format.UNKNOWN if step is None else format.milliseconds(step.median),
            )
        )
    return table(head, rows, left=(0, 1, *range(2, 2 + len(turned))))
