"""A session in a few lines of Markdown, or a sweep's tables, for an issue or a chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from gputrain_runner.report.beside import of_session
from gputrain_runner.report.story import Story, Turned
from gputrain_runner.sweep.result import SweepFile

from .. import format, preset_text, sweep_text, verdict_text
from .verdicts import telling

MOST_CHANGES = 12


def sessions(stories: Sequence[Story]) -> Iterator[str]:
    """The text of recordings, one after another."""
    for at, story in enumerate(stories):
        yield ("\n" if at else "") + "\n".join(_session(story)) + "\n"


def sweeps(told: Sequence[tuple[str, SweepFile]]) -> Iterator[str]:
    """The tables of sweeps, each with the path of its file."""
    for at, (path, one) in enumerate(told):
        names = ", ".join(dict.fromkeys(each.preset for each in one.points))
        host = one.host
        machine = ", ".join(
            text for text in (host.os, host.cpu, host.torch and f"PyTorch {host.torch}") if text
        )
        yield (
            "\n" if at else ""
        ) + f"## Sweep: {plain(names)}\n\n{plain(machine)}; {plain(Path(path).name)}\n"
        for part in (*sweep_text.nets_by_devices(one), *sweep_text.by_batch_size(one)):
            yield f"\n```\n{part}\n```\n"


def _session(story: Story) -> Iterator[str]:
    session, host = story.header.session, story.header.host
    yield f"## {plain(story.preset_name)} on {plain(story.device_name(story.settings.device))}"
    yield ""
    yield plain(str(session.preset.get("title") or ""))
    yield ""
    yield "| | |"
    yield "|---|---|"
    for name, value in _facts(story):
        yield f"| {name} | {plain(value)} |"
    software = [f"Python {host.python}"]
    software += [
        f"{name} {version}"
        for name, version in (("PyTorch", host.torch), ("CUDA", host.cuda), ("driver", host.driver))
        if version
    ]
    yield f"| machine | {plain(', '.join([host.os, host.cpu or format.UNKNOWN, *software]))} |"
    yield from _changes(story)
    yield from _why(story)
    yield from _published(story)
    yield ""
    yield f"`{' '.join(session.command).replace('`', ' ')}`"


def _facts(story: Story) -> Iterator[tuple[str, str]]:
    ended = "no end recorded" if story.summary is None else story.summary.ended
    yield "session", f"{story.header.session.started_at[:19]}Z, {format.elapsed(story.length_s)}, {ended}"
    settings = story.settings
    told = [
        f"{format.setting_label(name)} {format.setting(name, settings.value(name))}"
        for name in settings.__struct_fields__
        if settings.value(name) is not None
    ]
    yield "settings", ", ".join(told)
    for stretch in reversed(story.stretches):
        rate, step = story.rate(stretch), story.step_ms(stretch)
        if rate is not None:
            yield (
                "samples/s",
                f"{format.count(rate.median)} ({format.short(rate.q25)}–{format.short(rate.q75)})",
            )
            yield "step", format.milliseconds(None if step is None else step.median)
            break
    if story.summary is not None:
        yield "loss", f"{format.loss(story.summary.loss_first)} → {format.loss(story.summary.loss_last)}"


def _changes(story: Story) -> Iterator[str]:
    if not story.turned:
        return
    yield ""
    yield "| at | change | effect | predicted |"
    yield "|---|---|---|---|"
    for turned in story.turned[-MOST_CHANGES:]:
        cells = (format.clock(turned.change.t), plain(_what(turned)), _effect(turned), _foretold(turned))
        yield f"| {' | '.join(cells)} |"
    if len(story.turned) > MOST_CHANGES:
        yield ""
        yield f"({len(story.turned) - MOST_CHANGES} earlier changes are left out.)"


def _what(turned: Turned) -> str:
    change = turned.change
    return format.setting_change(change.setting, change.from_, change.to)


def _effect(turned: Turned) -> str:
    if not turned.change.ok:
        return plain(f"could not be made: {turned.change.error or 'no reason was told'}")
    effect = turned.effect
    if effect is None:
        return format.UNKNOWN
    return format.ratio_spread(effect.ratio, effect.ratio_low, effect.ratio_high)


def _foretold(turned: Turned) -> str:
    effect = turned.effect
    return "" if effect is None or effect.predicted_ratio is None else format.ratio(effect.predicted_ratio)


def _why(story: Story) -> Iterator[str]:
    told = telling(story)
    if not told:
        return
    verdict = told[-1].verdict
    yield ""
    name = verdict_text.name(verdict.bottleneck)
    yield f"**{name}.** {plain(verdict_text.without_title(verdict.sentence, verdict.bottleneck))}"
    if verdict.evidence:
        yield ""
        yield from (f"- {plain(text)}" for text in verdict.evidence)
    if verdict.remedies:
        yield ""
        yield "What would help:"
        yield ""
        for remedy in verdict.remedies:
            yield f"- {plain(verdict_text.remedy(remedy))}: {verdict_text.predicted(remedy)}"


def _published(story: Story) -> Iterator[str]:
    pairs = [pair for pair in of_session(story) if pair.ratio is not None][: preset_text.MOST_FIGURES]
    if not pairs:
        return
    yield ""
    yield "Published, and measured here as a multiple of it:"
    yield ""
    for pair in pairs:
        yield f"- {plain(preset_text.published(pair.figure))}; here {format.ratio(pair.ratio)}"


_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")


def plain(text: str) -> str:
    """The text on one line, with nothing in it that Markdown would take for markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
