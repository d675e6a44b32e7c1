"""Verdicts on a page: the bottleneck, its evidence, and for each remedy what was predicted and measured."""

from __future__ import annotations

from gputrain_runner.diagnosis.rules import names
from gputrain_runner.report.story import Held, Story
from gputrain_runner.timeline import Finding, Remedy

from .. import format, verdict_text
from .html import Html, element, join, table

MOST = 40
"""So many verdicts are told in full, the last ones."""


def telling(story: Story) -> list[Held]:
    """The verdicts that name a bottleneck."""
    return [held for held in story.held if held.verdict.bottleneck != names.CANNOT_SAY]


def in_short(held: Held) -> Html:
    """The bottleneck's name and sentence."""
    verdict = held.verdict
    name = verdict_text.name(verdict.bottleneck)
    sentence = verdict.sentence
    if not sentence.casefold().startswith(name.casefold()):
        sentence = f"{name}. {sentence}"
    head, _, rest = sentence.partition(". ")
    return join([element("b", head if not rest else f"{head}. "), rest])


def in_full(story: Story) -> Html:
    """All that name a bottleneck, one after another."""
    told = telling(story)
    left_out = len(told) - MOST
    parts = [_verdict(story, held) for held in told[-MOST:]]
    if left_out > 0:
        parts.insert(0, element("p", f"{left_out} earlier ones are left out.", class_="note"))
    return join(parts)


def _verdict(story: Story, held: Held) -> Html:
    verdict = held.verdict
    when = f"{format.clock(held.since_s)}–{format.clock(held.until_s)}  "
    parts = [
        element("h4", element("span", when, class_="dim"), verdict_text.name(verdict.bottleneck)),
        element("p", verdict_text.without_title(verdict.sentence, verdict.bottleneck)),
    ]
    limit = verdict_text.limit(verdict)
    evidence = [*verdict.evidence, *([limit] if limit else [])]
    if evidence:
        parts.append(element("ul", *(element("li", text) for text in evidence)))
    if verdict.remedies:
        parts.append(_remedies(story, held))
    if verdict.others:
        parts.append(element("p", "Beside it:", class_="note"))
        parts.append(element("ul", *(element("li", _other(finding)) for finding in verdict.others)))
    return element("div", *parts, class_="held")


def _remedies(story: Story, held: Held) -> Html:
    rows = []
    for remedy in held.verdict.remedies:
        effect = story.measured_gain(held, remedy.setting, remedy.to)
        measured = (
            "" if effect is None else format.ratio_spread(effect.ratio, effect.ratio_low, effect.ratio_high)
        )
        advice = remedy.setting is None
        why = "" if advice else remedy.why
        keeps = "" if advice else "yes" if remedy.keeps_meaning else "no"
        what = verdict_text.remedy(remedy)
        rows.append((element("span", what, class_="big"), _predicted(remedy), measured, keeps, why))
    head = ("what would help", "predicted", "measured", "trains the same", "why")
    return table(head, rows, left=(0, 3, 4))


def _predicted(remedy: Remedy) -> str:
    return verdict_text.predicted(remedy).removeprefix("predicts ")


def _other(finding: Finding) -> Html:
    first = finding.remedies[0] if finding.remedies else None
    helps = ""
    if first is not None:
        helps = f" {verdict_text.remedy(first)}: {verdict_text.predicted(first)}."
    name = verdict_text.name(finding.bottleneck)
    sentence = verdict_text.without_title(finding.sentence, finding.bottleneck)
    return join([element("b", f"{name}. "), sentence, helps])
