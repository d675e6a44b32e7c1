"""The panels of the training screen: each knows what to draw of a history, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Size

from gputrain_presets import Preset
from gputrain_runner.ceilings import about, share_of_ceiling
from gputrain_runner.feed import Feed
from gputrain_runner.settings import Settings
from gputrain_runner.timeline import Entry, Sample

from .. import format, preset_text
from ..device_share import DeviceShare
from ..history import History
from ..widgets.lines import Lines
from ..widgets.phase_bars import PhaseBars
from ..widgets.text import Line, Role, Run, padded, wrapped
from ..widgets.time_chart import TimeChart
from .heading import PAUSED

WINDOW_S = 120.0
"""What the charts span."""
LABEL_CELLS = 11
FIGURE_CELLS = 9


def runs(*parts: tuple[str, str], gap: str = "   ") -> list[Run]:
    """Label and figure pairs: labels dim, figures strong, what is not known dim."""
    line: list[Run] = []
    for label, text in parts:
        role: Role = "dim" if text.strip() == format.UNKNOWN else "strong"
        line += [(f"{label} " if label else "", "dim"), (text, role), gap]
    return line[:-1]


def figure(text: str) -> str:
    """Right-aligned, so that digits do not move."""
    return padded(text, FIGURE_CELLS, right=True)


def figure_line(label: str, text: str, note: str = "") -> Line:
    """`memory   1.2 GiB of 141 GiB`: a label, a figure that stands still, and a word about it."""
    return [*runs((label, figure(text))), (f" {note}", "dim")]


def percent_axis(share: float) -> str:
    """The label of an axis of shares."""
    return format.percent(share)


def _one(text: str, role: Role) -> Line:
    return [(text, role)]


class Panel(Vertical):
    """A part of the screen that is drawn from the history."""

    @cached_property
    def plots(self) -> list[Plot]:
        """Its plots, looked up once."""
        return list(self.query(Plot))

    def show_numbers(self, history: History, feed: Feed) -> None:
        """Draw the figures; called at 2 Hz while displayed."""

    def show_charts(self, history: History, now_s: float) -> None:
        """Draw the charts up to the session's second `now_s`; called at 1 Hz while displayed."""


class Plot(Vertical):
    """A title line with a figure, and the figure over time below."""

    def __init__(
        self,
        series: str,
        *,
        id: str,
        y_format: Callable[[float], str] = format.axis,
        y_max: float | None = None,
        below: str | None = None,
        classes: str = "",
    ) -> None:
        """`series`: a name in the history; `below`: a second one, drawn as a filled area."""
        super().__init__(id=id, classes=f"plot {classes}".strip())
        self._series = series
        self._below = below
        self._title = Lines(classes="plot-title")
        self._chart = TimeChart(window_s=WINDOW_S, y_max=y_max, y_format=y_format, classes="plot-chart")

    def compose(self) -> ComposeResult:
        """Title and chart."""
        yield self._title
        yield self._chart

    @property
    def y_max(self) -> float | None:
        """The top of its range; None where it follows the values."""
        return self._chart.y_max

    @y_max.setter
    def y_max(self, value: float | None) -> None:
        self._chart.y_max = value

    def show_title(self, line: Line) -> None:
        """The line above the chart."""
        self._title.show([line])

    def show_chart(self, history: History, now_s: float, *, marked: bool = False) -> None:
        """Draw the series; `marked`: with the changes made."""
        below = None if self._below is None else history.series[self._below]
        if below is not None and not below.known:
            below = None
        self._chart.show(history.series[self._series], now_s, history.markers if marked else (), below)


class RatePanel(Panel):
    """The throughput, large, and over time with the changes made."""

    def compose(self) -> ComposeResult:
        """One plot."""
        yield Plot("rate", id="rate-plot")

    def show_numbers(self, history: History, feed: Feed) -> None:
        """`samples/s  1,843,210   175 GFLOP/s, 34 % of its ceiling   steady, IQR 2.1 %`."""
        rate = history.rate()
        note = history.steadiness()
        text = PAUSED if history.paused else format.count(rate)
        role: Role = "dim" if rate is None else "accent"
        flops = None if rate is None else history.number(lambda sample: sample.flops_per_s)
        work = "" if flops is None else f"   {format.flops_rate(flops)}{_of_ceiling(flops, feed)}"
        title: Line = [
            ("samples/s  ", "dim"),
            (padded(text, 11, right=True), role),
            (f"{work}   {note}", "dim"),
        ]
        self.query_one("#rate-plot", Plot).show_title(title)

    def show_charts(self, history: History, now_s: float) -> None:
        """The rate with the changes made."""
        self.query_one("#rate-plot", Plot).show_chart(history, now_s, marked=True)


def _of_ceiling(flops_per_s: float, feed: Feed) -> str:
    """`, 34 % of its ceiling`; nothing where that was not measured here."""
    settings = feed.settings
    ceilings = (feed.header.probe or {}).get(settings.device)
    share = share_of_ceiling(flops_per_s, settings.precision, ceilings)
    if share is None:
        return ""
    return f", {about(ceilings)}{format.percent(share, 1 if share < 0.1 else 0)} of its ceiling"


class StepPanel(Panel):
    """Where one step's time goes; or what the matter is when nothing steps."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._device = DeviceShare()

    def compose(self) -> ComposeResult:
        """The bars, or a notice in their place."""
        yield PhaseBars(id="phases")
        yield Lines(id="notice")

    def take(self, entries: Sequence[Entry]) -> None:
        """Take in the steps of what is new; they are drawn with the numbers."""
        bars = self.query_one("#phases", PhaseBars)
        for entry in entries:
            if isinstance(entry, Sample):
                self._device.take(entry)
                step_ms = entry.step_ms.mean if entry.step_ms else None
                bars.take_step(entry.phases, step_ms)
        bars.take_device(self._device.shares)

    def show_numbers(self, history: History, feed: Feed) -> None:
        """Bars while it runs; else what the state is and what can be done."""
        # Under new settings, or paused, there is no rate yet: then the bars are those of earlier steps.
        steps = history.rate() is not None
        earlier = "before the pause" if feed.state == "paused" else "of earlier steps"
        bars = self.query_one("#phases", PhaseBars)
        bars.set_earlier("" if steps else earlier)
        bars.rebuild()
        lines = self._notice(history, feed)
        self.set_class(bool(lines), "-notice")
        self.query_one("#notice", Lines).show(lines)

    @property
    def step_ms(self) -> float | None:
        """The time of a step as the bars have it; None where none steps now."""
        return self.query_one("#phases", PhaseBars).step_ms

    def _notice(self, history: History, feed: Feed) -> list[Line]:
        width, height = max(20, self.size.width), max(2, self.query_one("#notice").size.height or 6)
        if feed.state == "starting":
            return ["Starting", [("PyTorch, the data and the model are being loaded …", "dim")]]
        if feed.state != "died":
            return []
        reason = wrapped(f"Training has ended: {feed.reason or 'the worker died'}", width, 2)
        tail = list(feed.log_tail)[-max(1, height - len(reason) - 1) :]
        way_out: Line = [("r", "strong"), (" starts a new worker with the same settings", "dim")]
        return [
            *(_one(line, "warning") for line in reason),
            *(_one(line, "dim") for line in tail),
            way_out,
        ]


class LossPanel(Panel):
    """The loss as a figure and over time, and the last validation."""

    def compose(self) -> ComposeResult:
        """One plot."""
        yield Plot("loss", id="loss-plot", y_format=format.loss)

    def show_numbers(self, history: History, feed: Feed) -> None:
        """`loss 0.0312   validation after epoch 2: loss 0.0350, accuracy 97.1 %`."""
        loss = history.number(lambda sample: sample.loss)
        title = runs(("loss", padded(format.loss(loss), 8, right=True)))
        last = history.validation
        if last is not None:
            found = f"loss {format.loss(last.loss)}"
            if last.accuracy is not None:
                found += f", accuracy {format.percent(last.accuracy, 1)}"
            title += [(f"   validation after epoch {last.epoch}: ", "dim"), found]
        self.query_one("#loss-plot", Plot).show_title(title)

    def show_charts(self, history: History, now_s: float) -> None:
        """The loss."""
        self.query_one("#loss-plot", Plot).show_chart(history, now_s)


class WorkloadPanel(Lines):
    """What is trained, in the words of its preset, and on which data."""

    def __init__(self, preset: Preset, *, id: str) -> None:
        super().__init__(id=id)
        self._preset = preset
        self._data: str | None = None
        self._published: list[str] = []

    def show_data(self, data: str | None, settings: Settings) -> None:
        """The data as it was loaded, None while it is not; published figures nearest to the settings."""
        published = preset_text.published_near(self._preset, settings)
        if (data, published) != (self._data, self._published):
            self._data, self._published = data, published
            self.refresh(layout=True)
            self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Data, loss and optimizer."""
        preset = self._preset
        facts = [
            ("data", self._data or preset_text.data(preset.data, preset.model)),
            ("loss", preset_text.loss(preset.loss)),
            ("optimizer", preset_text.optimizer(preset.optimizer)),
            *(("published", text) for text in self._published),
        ]
        lines: list[Line] = [[("WORKLOAD", "strong")]]
        for label, text in facts:
            first, *more = wrapped(text, max(20, width - LABEL_CELLS), 2)
            lines.append([(padded(label, LABEL_CELLS), "dim"), first])
            lines += [" " * LABEL_CELLS + line for line in more]
        return lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines."""
        return len(self.build(width, 0))
