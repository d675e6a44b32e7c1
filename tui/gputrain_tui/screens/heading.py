"""The lines above and below the panels, as texts: who trains what, how it goes, which keys there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gputrain_runner.feed import Feed, State

from .. import format
from ..widgets.text import Line, Run, padded, width_of

if TYPE_CHECKING:
    from ..history import History

STATE_WORDS: dict[State, str] = {
    "starting": "starting",
    "running": "running",
    "paused": "paused",
    "finished": "finished",
    "died": "died",
}
PAUSED = STATE_WORDS["paused"]
LAST_KEYS = 3
NUMBER_CELLS = {"samples/s": 9, "step": 8, "loss": 7, "GPU": 5, "CPU": 5, "busy": 5}
"""Cells kept for each number, so that what follows it stands still."""


def first_fitting(candidates: Iterable[Line], width: int) -> Line:
    """The first line that fits into the width; the last one where none does."""
    line: Line = ""
    for line in candidates:
        if width_of(line) <= width:
            break
    return line


def spread(left: Sequence[Run], right: Sequence[Run], width: int, gap: int = 2) -> Line:
    """`left` at the left and `right` at the right edge, at least `gap` cells apart."""
    gap = max(gap, width - width_of(left) - width_of(right))
    return [*left, " " * gap, *right]


def identity(feed: Feed, width: int) -> Line:
    """Preset and settings: `lasagne-mlp ×1 · cuda:0 NVIDIA H200 · batch 1,024 · fp32 · eager · host`."""
    settings = feed.settings
    named = {device.device: device.name for device in feed.header.devices}
    name = str(feed.header.session.preset.get("name", ""))
    size = format.setting("model_size", settings.model_size)
    rest = [
        f"batch {format.setting('batch_size', settings.batch_size)}",
        settings.precision,
        settings.execution,
        settings.data_path,
    ]
    if settings.models_at_once > 1:
        rest.append(f"{settings.models_at_once} models")
    card = named.get(settings.device)
    device = f"{settings.device} {card}" if card else settings.device

    def line(device: str, parts: Sequence[str]) -> Line:
        return [(name, "strong"), f" {size} · ", " · ".join([device, *parts])]

    return first_fitting(
        [
            line(device, rest),
            line(settings.device, rest),
            *(line(settings.device, rest[:n]) for n in (3, 2, 1)),
        ],
        width,
    )


def status(feed: Feed, history: History, state_word: str, width: int) -> Line:
    """State, time, epoch, step and recording, as much as fits, from the left."""
    state: Run = (state_word, "warning" if feed.state in ("died", "paused") else "")
    clock = format.elapsed(feed.elapsed_s)
    sample = history.latest
    place = ""
    if sample is not None:
        place = f"  epoch {sample.epoch + 1}  step {format.count(sample.step)}"
    recording: list[Run] = [] if feed.recording is None else ["  ", ("● REC", "warning")]
    name: list[Run] = [] if feed.recording is None else [f" {feed.recording.name}"]
    return first_fitting(
        [
            [state, f" {clock}{place}", *recording, *name],
            [state, f" {clock}{place}", *recording],
            [state, f" {clock}", *recording],
        ],
        width,
    )


def status_short(feed: Feed, state_word: str) -> list[Run]:
    """The same in as little as possible: `● REC  paused 00:02:13`."""
    runs: list[Run] = []
    if feed.recording is not None:
        runs += [("● REC", "warning"), "  "]
    if feed.state != "running" or state_word != "running":
        runs += [(state_word, "warning" if feed.state in ("died", "paused") else ""), " "]
    return [*runs, format.elapsed(feed.elapsed_s)]


def numbers(history: History, step_ms: float | None, width: int) -> Line:
    """The figures on one line: `samples/s 1,843,210   step 0.556 ms   loss 0.0312   GPU 61 %`.

    The time of a step is the one that the bars are drawn from, so that there is but one.
    """
    figures = [
        ("samples/s", PAUSED if history.paused else format.count(history.rate())),
        ("step", format.milliseconds(step_ms)),
        ("loss", format.loss(history.number(lambda sample: sample.loss))),
    ]
    if history.gpu is not None:
        figures.append(("GPU", format.percent(history.gpu_number(lambda gpu: gpu.utilisation))))
    else:
        cpu = history.number(lambda sample: sample.host.cpu_utilisation if sample.host else None)
        figures.append(("CPU", format.percent(cpu)))
    busy = history.number(lambda sample: sample.busy)
    if busy is not None:
        figures.append(("busy", format.percent(busy)))
    parts = [_figure(name, text) for name, text in figures]
    candidates: list[Line] = []
    for n in range(len(parts), 0, -1):
        runs: list[Run] = []
        for part in parts[:n]:
            runs += ["   ", *part] if runs else part
        candidates.append(runs)
    return first_fitting(candidates, width)


def _figure(name: str, text: str) -> list[Run]:
    known = text not in (format.UNKNOWN, PAUSED)
    return [(f"{name} ", "dim"), (padded(text, NUMBER_CELLS[name], right=True), "strong" if known else "dim")]


def tabs(views: Sequence[tuple[str, str]], chosen: str, note: str, width: int) -> Line:
    """`[1 Step]  2 GPU   3 Changes ─── synthetic data`: the chosen one is in brackets."""
    runs: list[Run] = []
    for number, (view, title) in enumerate(views, start=1):
        marked = f"[{number} {title}]" if view == chosen else f" {number} {title} "
        runs += [(marked, "accent" if view == chosen else "dim"), " "]
    room = width - width_of(runs) - width_of(note) - 1
    if room < 1:
        return runs
    return [*runs, ("─" * room + (f" {note}" if note else ""), "dim")]


def keys_line(shown: Sequence[tuple[str, str]], width: int) -> Line:
    """`space pause   c record   ? help   q quit`; the last three stay where there is no room."""
    for gap in ("   ", "  "):
        line = _joined(shown, gap)
        if width_of(line) <= width:
            return line
    kept = list(shown)
    while len(kept) > LAST_KEYS:
        del kept[len(kept) - LAST_KEYS - 1]
        line = _joined(kept, "  ")
        if width_of(line) <= width:
            return line
    return _joined(kept, "  ")


def _joined(shown: Sequence[tuple[str, str]], gap: str) -> list[Run]:
    runs: list[Run] = []
    for key, word in shown:
        if runs:
            runs.append(gap)
        runs += [(key, "strong"), (f" {word}", "dim")]
    return runs
