"""A session's part of the page, from what it was to why it was so fast."""

from __future__ import annotations

import shlex

from gputrain_runner.ceilings import in_words
from gputrain_runner.report.beside import of_session
from gputrain_runner.report.columns import GpuColumns
from gputrain_runner.report.story import Story
from gputrain_runner.settings import RULES

from .. import format, preset_text, verdict_text
from . import changes, effect_chart, machine_charts, published, session_charts, verdicts
from .charts import Chart, Times
from .html import Html, Part, element, facts, join, section, table
from .machine_facts import machine
from .page import Page


def session(page: Page, story: Story, group: str, heading: str = "h1", mark: str = "") -> Html:
    """The whole of it; `heading` is the element that its title is, `mark` the letter before it."""
    times = session_charts.times_of(story, group)
    return element(
        "article",
        _heading(story, heading, mark),
        _tiles(story),
        _why(story),
        _throughput(page, story, times),
        section(
            "What was turned, and what it did",
            changes.changes(story),
            _one(page, effect_chart.effects(story)),
        ),
        section(
            "One step",
            page.charts(session_charts.steps(story, times)),
            _one(page, session_charts.work(story)),
        ),
        section("Verdicts", verdicts.in_full(story)),
        section("Learning", _one(page, session_charts.loss(story, times))),
        _gpus(page, story, times),
        section("Host", page.charts(machine_charts.host(story, times))),
        section("Published figures", published.published(of_session(story)), note=published.NOTE),
        _messages(story),
        _around(story),
        id=group,
    )


def _one(page: Page, chart: Chart | None) -> Html:
    return Html("") if chart is None else page.chart(chart)


def _heading(story: Story, heading: str, mark: str) -> Html:
    session = story.header.session
    started = session.started_at[:19].replace("T", " ")
    ended = "cut off or still being written" if story.summary is None else story.summary.ended
    device = story.device_name(story.settings.device)
    told = f"{device} · started {started} UTC · {format.elapsed(story.length_s)} · {ended}"
    parts: list[Part] = [
        element(heading, f"{mark}  {story.preset_name}: {session.preset.get('title', '')}".strip(": ")),
        element("p", told, class_="sub"),
    ]
    error = None if story.summary is None else story.summary.error
    for trouble in (story.damage, error):
        if trouble:
            parts.append(element("p", trouble, class_="bad"))
    return element("header", *parts)


def _tile(name: str, value: str, more: str = "") -> Html:
    words = "value words" if len(value) > 12 else "value"
    return element(
        "div",
        element("div", name, class_="name"),
        element("div", value, class_=words),
        element("div", more, class_="more"),
        class_="tile",
    )


def _tiles(story: Story) -> Html:
    """The few figures that matter most."""
    rates = [(stretch, rate) for stretch in story.stretches if (rate := story.rate(stretch)) is not None]
    tiles = []
    if rates:
        stretch, last = rates[-1]
        spread = (last.q75 - last.q25) / last.median if last.median else 0.0
        tiles.append(
            _tile("samples/s", format.count(last.median), f"last settings, IQR {format.percent(spread, 1)}")
        )
        if len(rates) > 1:
            gain = last.median / rates[0][1].median
            tiles.append(
                _tile("since the start", format.ratio(gain), f"from {format.count(rates[0][1].median)}")
            )
        step = story.step_ms(stretch)
        if step is not None:
            tiles.append(
                _tile("step", format.milliseconds(step.median), f"batch {stretch.settings.batch_size:,}")
            )
    told = verdicts.telling(story)
    if told:
        tiles.append(_tile("bottleneck", verdict_text.name(told[-1].verdict.bottleneck), "at the end"))
    summary = story.summary
    if summary is not None:
        tiles.append(_tile("loss", format.loss(summary.loss_last), f"from {format.loss(summary.loss_first)}"))
        accuracy = None if summary.validation is None else summary.validation.accuracy
        if accuracy is not None:
            tiles.append(_tile("accuracy", format.percent(accuracy, 1), "on the validation set"))
        tiles.append(_tile("steps", format.short(summary.steps), f"{summary.epochs:,} epochs"))
    return element("div", *tiles, class_="tiles") if tiles else Html("")


def _why(story: Story) -> Html:
    told = verdicts.telling(story)
    if not told:
        return Html("")
    return element("div", element("p", verdicts.in_short(told[-1])), class_="card verdict")


def _throughput(page: Page, story: Story, times: Times) -> Html:
    charts = [session_charts.throughput(story, times), session_charts.settings_over_time(story, times)]
    drawn = page.charts([chart for chart in charts if chart is not None])
    return section("Throughput and settings", drawn, changes.stretches(story))


def _gpus(page: Page, story: Story, times: Times) -> Html:
    trained = story.trained_on()
    parts = [
        section(_gpu_name(gpu), page.charts(machine_charts.gpu(story, gpu, times)), _throttling(gpu))
        for gpu in trained
    ]
    others = [gpu for gpu in story.gpus.values() if gpu not in trained]
    rest = machine_charts.others(others, times)
    if rest is not None:
        parts.append(section("GPUs that did not train", page.chart(rest), _list_of(others)))
    return join(parts)


def _gpu_name(gpu: GpuColumns) -> str:
    mig = "" if gpu.mig is None else f", MIG device {gpu.mig}"
    return f"GPU {gpu.index}: {gpu.name or 'unnamed'}{mig}"


def _list_of(gpus: list[GpuColumns]) -> Html:
    return element("ul", *(element("li", _gpu_name(gpu)) for gpu in gpus))


def _throttling(gpu: GpuColumns) -> Html:
    """What held the clocks back, and for how long."""
    told = [
        f"{reason.replace('_', ' ')} {seconds:,.1f} s"
        for reason, seconds in gpu.throttled_s.items()
        if seconds
    ]
    link = [gpu.limits.get(name) for name in ("pcie_generation", "pcie_width")]
    parts = []
    if None not in link:
        parts.append(f"PCIe link at the end: generation {link[0]:.0f}, ×{link[1]:.0f}.")
    if told:
        parts.append(f"Clocks were held back: {', '.join(told)}.")
    return element("p", " ".join(parts), class_="note") if parts else Html("")


def _messages(story: Story) -> Html:
    rows = [(format.clock(message.t), message.level, message.text) for message in story.messages]
    left = story.messages_left_out
    more = element("p", f"and {left:,} more", class_="note") if left else Html("")
    return (
        section("Messages", table(("at", "level", "message"), rows, left=(0, 1, 2)), more)
        if rows
        else Html("")
    )


def _around(story: Story) -> Html:
    """Machine, software, preset, settings and file."""
    session = story.header.session
    preset = story.preset
    of_preset: list[tuple[str, Part]] = []
    if preset is not None:
        of_preset = [(name, text) for name, text in preset_text.facts(preset) if name != "published"]
    if session.data:
        of_preset.append(("loaded", session.data))
    end = story.settings
    of_settings = [
        (format.setting_label(name), format.setting(name, end.value(name)))
        for name in RULES
        if end.value(name) is not None
    ]
    origin = str(session.preset.get("origin") or "")
    ceilings = [(name, in_words(told)) for name, told in (story.header.probe or {}).items()]
    return element(
        "section",
        element("h3", "Machine, workload and settings"),
        element("h4", "Machine"),
        facts([*machine(story.header.host, story.header.devices), *_flags(story)]),
        *([element("h4", "Measured ceilings"), facts(ceilings)] if ceilings else []),
        element("h4", "Preset"),
        element("p", origin, class_="note") if origin else Html(""),
        facts(of_preset),
        element("h4", "Settings at the end"),
        facts(of_settings),
        element("h4", "Recording"),
        facts(
            [
                ("command", element("code", shlex.join(session.command))),
                ("file", element("code", str(story.path))),
            ]
        ),
    )


def _flags(story: Story) -> list[tuple[str, Part]]:
    flags = story.header.session.flags
    if not flags:
        return []
    return [("PyTorch's switches", ", ".join(f"{name} {value}" for name, value in flags.items()))]
