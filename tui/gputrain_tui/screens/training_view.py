"""What the training screen shows: a session pulled from its feed, laid out for the terminal's size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.events import Resize

from gputrain_runner.feed import Control, Feed, State
from gputrain_runner.timeline import Message, Verdict

from .. import keys
from ..history import History, costs_of
from ..setting_desk import SettingDesk
from ..widgets.change_list import ChangeList
from ..widgets.lines import Lines
from ..widgets.settings_panel import SettingsPanel
from ..widgets.text import Line, width_of, wrapped
from ..widgets.time_chart import TimeChart
from ..widgets.verdict_panel import VerdictPanel
from . import heading
from .gpu_panel import GpuPanel
from .host_panel import HostPanel
from .message_line import AnsweringScreen, MessageLine
from .panels import LossPanel, Panel, RatePanel, StepPanel, WorkloadPanel

DRAW_S = 0.5
"""Between two drawings of the numbers: more cannot be read, and each costs the training something."""
QUICK_PULL_S = 0.1
QUICK_FOR_S = 2.0
"""After a key the feed is pulled so often, for so long: what the key did is seen when it happens."""
STATUS_STEP = 4
VIEWS = ("step", "gpu", "why")
SPANS_S = (120.0, 600.0, 3600.0, 6 * 3600.0, 24 * 3600.0)
"""What the charts can span."""
CHARTS_EVERY = 2
"""Drawings of the numbers for each of the charts: 1 Hz."""


class TrainingView(AnsweringScreen):
    """Pulls the feed twice a second, more often after a key, and draws what is displayed and has changed."""

    AUTO_FOCUS = ""
    help_place = "training"
    turns = True
    """Whether settings can be turned: not those of a recording."""

    def __init__(self, feed: Feed, control: Control, size_classes: str) -> None:
        super().__init__(classes=f"training -view-step {size_classes}")
        self.feed = feed
        self.control = control
        self.desk = SettingDesk(feed, control, turns=self.turns)
        self.history = History(feed)
        self._drawings = 0
        self._quick_left = 0
        """Pulls in between that are still to come."""
        self._view = "step"
        self._span = 0
        self.verdict: Verdict | None = None
        """The newest; None before the first."""
        self.asked_state: State | None = None
        """Paused or running, where that was asked for and has not come about yet."""

    def compose(self) -> ComposeResult:
        """Head, panels, settings, message and keys; what is shown where is the style sheet's business."""
        with Horizontal(id="head"):
            yield Lines([""], id="identity")
            yield Lines([""], id="status")
        yield Lines([""], id="numbers")
        yield Lines([""], id="tabs")
        with Horizontal(id="body"):
            with Vertical(id="left"):
                yield RatePanel(id="rate")
                yield StepPanel(id="step", classes="-notice")
                yield LossPanel(id="loss")
                yield GpuPanel(id="gpu")
                yield HostPanel(id="host")
            with Vertical(id="right"):
                yield SettingsPanel(title="SETTINGS", id="settings")
                yield WorkloadPanel(self.desk.preset, id="workload")
                yield VerdictPanel(applies=self.turns, id="verdict")
                yield Lines([[("CHANGES", "strong")]], id="changes-title", classes="panel-title")
                yield ChangeList(id="changes")
        yield SettingsPanel(strip=True, id="strip")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")
        yield Lines(id="too-small")

    def on_mount(self) -> None:
        """Begin to pull."""
        self.set_interval(DRAW_S, self.pull)
        self._between = self.set_interval(QUICK_PULL_S, self._pull_between, pause=True)

    @cached_property
    def _every_panel(self) -> list[Panel]:
        """Looked up once: looking for widgets costs more than drawing them."""
        return list(self.query(Panel))

    @cached_property
    def _settings_panels(self) -> list[SettingsPanel]:
        return list(self.query(SettingsPanel))

    def pull(self) -> None:
        """Take in what is new and draw what is due, also behind a box; drawn is only what is not covered."""
        with self.app.batch_update():
            self._take_in()
            if not self.is_current:
                return
            self._drawings += 1
            self._draw_numbers()
            if self._drawings % CHARTS_EVERY == 0:
                self._draw_charts()

    def _take_in(self) -> None:
        """Take in what is new, and draw what keys lead to: settings and changes."""
        first, entries = self.history.pull()
        self.desk.take(entries)
        if self.asked_state == self.feed.state:
            self.asked_state = None
        self.query_one("#step", StepPanel).take(entries)
        self.query_one("#changes", ChangeList).add(first, entries)
        for entry in entries:
            if isinstance(entry, Message) and entry.level != "info":
                self._tell(entry.text)
            elif isinstance(entry, Verdict):
                self.verdict = entry
        if self.is_current:
            self._draw_settings()

    def _pull_between(self) -> None:
        self._quick_left -= 1
        if self._quick_left <= 0:
            self._between.pause()
        with self.app.batch_update():
            self._take_in()

    def _tell(self, text: str) -> None:
        """Say it where it is seen: on the screen that covers this one, where that has a place for it."""
        top = self.app.screen
        if self.is_current or not isinstance(top, AnsweringScreen):
            self.say(text)
        elif top.shows_training:
            top.say(text)
        elif self.turns:
            top.say(f"the training below: {text}")

    def choose_view(self, view: str) -> None:
        """Show one of the folded layout's views: `step`, `gpu` or `why`."""
        self._view = view
        # At once: each change of the screen's classes has every widget's style looked up again.
        self.update_classes({f"-view-{name}": name == view for name in VIEWS})
        self.call_after_refresh(self.redraw)

    def next_span(self) -> float:
        """Have the charts span the next longer time, after the longest the shortest; the seconds."""
        self._span = (self._span + 1) % len(SPANS_S)
        for chart in self.query(TimeChart):
            chart.window_s = SPANS_S[self._span]
        self.redraw()
        return SPANS_S[self._span]

    def size_classes(self) -> list[str]:
        """The classes that the terminal's size gave to this screen."""
        app = self.app
        every = [name for _, name in (*(app.HORIZONTAL_BREAKPOINTS or ()), *(app.VERTICAL_BREAKPOINTS or ()))]
        return [name for name in every if self.has_class(name)]

    def own_costs(self) -> list[tuple[str, str]]:
        """What this program itself takes."""
        return costs_of(self.history.latest)

    def draw_at_once(self) -> None:
        """Show what a key did, without waiting for the next pull, and what comes of it soon."""
        self._draw_settings()
        self._draw_numbers()
        self._quick_left = round(QUICK_FOR_S / QUICK_PULL_S)
        self._between.resume()

    def redraw(self) -> None:
        """Draw everything now: after a resize, a change of view, a modal."""
        self._draw_settings()
        self._draw_numbers()
        self._draw_charts()
        self.drawn()

    def on_resize(self, event: Resize) -> None:
        """Lay the lines out anew once the panels have their sizes; also when coming back to the top."""
        self.call_after_refresh(self.redraw)

    def _draw_settings(self) -> None:
        rows = self.desk.rows()
        for panel in self._settings_panels:
            if panel.display:
                panel.show_settings(rows, self.desk.cursor if self.turns else None)

    def _draw_numbers(self) -> None:
        with_gpu = self.history.gpu is not None
        if with_gpu != self.has_class("-with-gpu"):
            self.set_class(with_gpu, "-with-gpu")
            self.call_after_refresh(self.redraw)
        width = self.size.width
        narrow = not self.has_class("-wide")
        step = self.query_one("#step", StepPanel)
        step.show_numbers(self.history, self.feed)
        state = self._state_word()
        if narrow:
            right = heading.status_short(self.feed, state)
            left = heading.identity(self.feed, width - 2 - width_of(right))
            self._line("#identity", heading.spread(list(left), right, width))
            self._line("#numbers", heading.numbers(self.history, step.step_ms, width))
        else:
            self._draw_head(state, width)
        self._line("#tabs", self._tabs(width))
        self._line("#keys", heading.keys_line(self._keys(), width))
        self.query_one("#message", MessageLine).stand(self._standing())
        self._draw_too_small()
        self.query_one("#verdict", VerdictPanel).show_verdict(self.verdict)
        self.query_one("#workload", WorkloadPanel).show_data(
            self.feed.header.session.data, self.feed.settings
        )
        for panel in self._panels():
            if panel is not step:
                panel.show_numbers(self.history, self.feed)

    def _draw_too_small(self) -> None:
        notice = self.query_one("#too-small", Lines)
        if notice.display:
            width, height = self.app.size
            text = (
                f"This terminal is {width} × {height}. The screen needs 60 × 15. Training goes on; q quits."
            )
            notice.show(wrapped(text, max(10, notice.size.width), 8))

    def _draw_head(self, state: str, width: int) -> None:
        """Identity at the left, state at the right, in two widgets: the one that stands still is not sent."""
        least = width_of(heading.identity(self.feed, 0))
        status = heading.status(self.feed, self.history, state, width - least - 4)
        # In steps, so that a growing number does not move everything at each digit.
        room = min(width - least - 4, -(-width_of(status) // STATUS_STEP) * STATUS_STEP)
        self._line("#identity", heading.identity(self.feed, width - room - 4))
        line = self.query_one("#status", Lines)
        if line.styles.width is None or line.styles.width.value != room:
            line.styles.width = room
        line.show([heading.spread([], list(status), room, gap=0)])

    def _draw_charts(self) -> None:
        latest = self.history.latest
        if latest is None:
            return
        now_s = max(latest.t, self.feed.elapsed_s - 2.0)
        for panel in self._panels():
            panel.show_charts(self.history, now_s)

    def _panels(self) -> Iterator[Panel]:
        """The panels that are displayed."""
        for panel in self._every_panel:
            if panel.display and panel.size:
                yield panel

    def _line(self, selector: str, line: Line) -> None:
        widget = self.query_one(selector, Lines)
        if widget.display:
            widget.show([line])

    def _tabs(self, width: int) -> Line:
        views = [("step", "Step"), ("gpu", "GPU" if self.history.gpu is not None else "Host")]
        views.append(("why", "Why"))
        data = self.feed.header.session.data or ""
        notes = [self.history.steadiness(), "synthetic data" if data.startswith("synthetic") else ""]
        return heading.tabs(views, self._view, ", ".join(note for note in notes if note), width)

    def _keys(self) -> list[tuple[str, str]]:
        """The keys that can do something now."""
        over = self.feed.state in ("died", "finished")
        words = {"restart": "start anew", "edit": "", "apply": "", "undo": "", "pause": ""} if over else {}
        if self.feed.state == "paused":
            words["pause"] = "go on"
        if self.feed.recording is not None:
            words["record"] = "end record"
        if self._view == "gpu" and not self.has_class("-wide"):
            words |= {"edit": "", "record": ""}  # The key to all GPUs is worth their room here.
        shown = keys.line(keys.TRAINING, words)
        return [*shown[:-2], *keys.line([keys.by_id("help")]), *shown[-2:]]

    def _state_word(self) -> str:
        if self.asked_state is not None:
            return "pausing" if self.asked_state == "paused" else "going on"
        return heading.STATE_WORDS[self.feed.state]

    def _standing(self) -> str:
        if self.feed.state == "died":
            return f"r starts a new worker; {self.feed.reason or 'this one died'}"
        return "training has finished; r starts it anew" if self.feed.state == "finished" else ""
