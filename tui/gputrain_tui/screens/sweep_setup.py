"""What a sweep is to measure: presets, sizes, settings, devices, passes, and how many steps of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from textual.app import ComposeResult

from gputrain_presets import PresetError, load, names
from gputrain_runner.sweep.job import Job, JobError, new_path

from .. import keys
from ..commands.parsing import UsageError
from ..commands.sweep_grid import RUNS, WARMUP, Grid
from ..sessions import Sessions
from ..sweep_choices import Choices
from ..sweep_run import Sweeps
from ..widgets.lines import Lines
from ..widgets.text import Line, padded, shorten, wrapped
from . import heading
from .ask import AskLine
from .choose_many import ChooseMany
from .message_line import AnsweringScreen, MessageLine
from .sweep import SweepScreen, size_classes

LABEL_CELLS = 16


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the form."""

    name: str
    """The field of `Choices`."""
    label: str
    empty: str
    """What it means where nothing is said."""
    about: str


CHOICES = (
    Choice("presets", "presets", "none chosen", "What is trained: one or more; f adds one from a file."),
    Choice(
        "model_sizes",
        "model sizes",
        "each preset's own",
        "Names from the presets' size ladders, as in x1,x2, or all. A size is for the presets that know it.",
    ),
    Choice(
        "batch_sizes",
        "batch sizes",
        "each preset's own",
        "As in 16,32,64. Three or more give the line t(b) = a + c·b: a is the step's own cost.",
    ),
    Choice("devices", "devices", "the best there is", "Each becomes a column of the table."),
    Choice("passes", "passes", "none chosen", "forward: inference with the loss. training: backward too."),
    Choice(
        "over",
        "also vary",
        "nothing",
        "Any further settings, as in: precision=fp32,bf16 execution=eager,compiled",
    ),
    Choice(
        "runs", "timed steps", str(RUNS), "Of each point, spread over two rounds where there are ten or more."
    ),
    Choice("warmup", "steps before", str(WARMUP), "Steps to warm up, in each round, which are not timed."),
    Choice(
        "share_process",
        "process",
        "",
        "A fresh process for each point takes some seconds more, and nothing depends on what ran before.",
    ),
)


class SweepSetupScreen(AnsweringScreen):
    """A form of a few lines, what the marked one means, and what it all comes to."""

    BINDINGS = keys.bindings(keys.SWEEP_SETUP)
    AUTO_FOCUS = ""
    help_place = "sweep setup"

    def __init__(self, sweeps: Sweeps, sessions: Sessions, presets: Sequence[str], sized: str) -> None:
        """`sessions` know the devices; `presets`: chosen at first; `sized`: classes by the terminal."""
        super().__init__(classes=f"sweep-setup {sized}")
        self._sweeps = sweeps
        self._sessions = sessions
        self._choices = Choices(tuple(presets))
        self._at = 0
        self._grid: Grid | None = None
        self._objection: str | None = None
        self._added = ""

    def compose(self) -> ComposeResult:
        """Head, form, what the marked line means, what it comes to, message, keys."""
        yield Lines([[("what to measure", "strong")]], id="setup-head")
        yield Lines([""] * len(CHOICES), id="setup-form")
        yield Lines(id="setup-about")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """See what the choice at first comes to."""
        self._plan()

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Everything."""
        form, about = self.query_one("#setup-form", Lines), self.query_one("#setup-about", Lines)
        form.show([self._row(at, form.size.width) for at in range(len(CHOICES))])
        width = max(20, about.size.width)
        told: list[Line] = [[(line, "dim")] for line in wrapped(CHOICES[self._at].about, width, 3)]
        about.show([*told, "", *self._outcome(width)])
        shown = [*keys.line(keys.SWEEP_SETUP), *keys.line(keys.APP)]
        self.query_one("#keys", Lines).show([heading.keys_line(shown, self.size.width)])
        self.query_one("#message", MessageLine).stand("")
        self.drawn()

    # ------------------------------------------------------------------ actions

    def action_move(self, by: int) -> None:
        """Mark another line."""
        self._at = max(0, min(self._at + by, len(CHOICES) - 1))
        self.draw()

    def action_edit(self) -> None:
        """Choose from a list, type, or turn, whatever the marked line takes."""
        choice = CHOICES[self._at]
        if choice.name == "share_process":
            self._take("share_process", not self._choices.share_process)
        elif choice.name in ("presets", "devices", "passes"):
            items = self._items(choice.name)
            if not items:
                told = "PyTorch is still being loaded: which devices there are is not known yet"
                self.say(told, holds=lambda: not self._items(choice.name))
                return
            chosen = getattr(self._choices, choice.name)
            self.app.push_screen(
                ChooseMany(choice.label, items, chosen), partial(self._take_some, choice.name)
            )
        else:
            text = str(getattr(self._choices, choice.name))
            take = partial(self._take_text, choice.name)
            self.app.push_screen(AskLine(choice.label, choice.about, take, text), self._redraw)

    def action_file(self) -> None:
        """Add a preset from a file."""
        allowed = "the path of a TOML file of the same form as a preset"
        self.app.push_screen(AskLine("Add a file", allowed, self._take_file), self._redraw)

    def action_start(self) -> None:
        """Begin."""
        self._plan()
        if self._grid is None:
            self.say(self._objection or "")
            return
        try:
            path = new_path(self._grid.plan)
        except JobError as error:
            self.say(str(error))
            return
        command = ["gputrain-tui", "sweep", *self._choices.arguments()]
        job = Job(self._grid.plan, self._grid.presets, path, command)
        self.app.push_screen(SweepScreen(self._sweeps, size_classes(self), path=path, job=job))

    def action_sweeps(self) -> None:
        """List the sweeps there are."""
        from .sweeps import SweepsScreen

        self.app.push_screen(SweepsScreen(self._sweeps, size_classes(self)))

    def action_close(self) -> None:
        """Back to the presets."""
        self.app.pop_screen()

    # ------------------------------------------------------------------ choices

    def _items(self, name: str) -> list[tuple[str, str]]:
        """What there is to choose from, with what is said of it."""
        if name == "passes":
            return [("forward", "inference, with the loss"), ("training", "forward and backward")]
        if name == "devices":
            return [(device.device, device.name or "") for device in self._sessions.devices]
        files = [(word, "from a file") for word in self._choices.presets if word not in names()]
        return [*((each, _title(each)) for each in names()), *files]

    def _take_some(self, name: str, chosen: tuple[str, ...] | None) -> None:
        if chosen is not None:
            self._take(name, chosen)

    def _take_text(self, name: str, text: str) -> str | None:
        """Take it; else what is wrong with it, where that was not wrong before."""
        before, objected = self._choices, self._objection
        self._take(name, text.strip())
        if self._objection is None or self._objection == objected:
            return None
        objection = self._objection
        self._choices = before
        self._plan()
        return objection

    def _take_file(self, text: str) -> str | None:
        path = text.strip()
        if not path:
            return "type the path of a TOML file"
        word = path if "/" in path else f"./{path}"
        try:
            load(word)
        except PresetError as error:
            return str(error)
        self._take("presets", tuple(dict.fromkeys((*self._choices.presets, word))))
        return None

    def _take(self, name: str, value: object) -> None:
        self._choices = self._choices.with_value(name, value)
        self._plan()
        if self.is_current:
            self.draw()

    def _redraw(self, _accepted: bool | None) -> None:
        self.draw()

    def _plan(self) -> None:
        """See what is chosen."""
        self._grid, self._objection = None, None
        try:
            self._grid = self._choices.grid()
        except UsageError as error:
            self._objection = str(error)

    # -------------------------------------------------------------------- texts

    def _row(self, at: int, width: int) -> Line:
        choice, marked = CHOICES[at], at == self._at
        value = getattr(self._choices, choice.name)
        if choice.name == "share_process":
            text = "one for all points" if value else "a fresh one for each point"
        else:
            text = value if isinstance(value, str) else ", ".join(value)
        room = max(8, width - LABEL_CELLS - 2)
        return [
            ("▸ " if marked else "  ", "accent"),
            (padded(choice.label, LABEL_CELLS), "accent" if marked else "dim"),
            (shorten(text, room), "strong") if text else (shorten(choice.empty, room), "dim"),
        ]

    def _outcome(self, width: int) -> list[Line]:
        """What it all comes to, or what is wrong."""
        if self._grid is None:
            return [[(line, "warning")] for line in wrapped(self._objection or "", width, 3)]
        plan = self._grid.plan
        count = len(plan.points)
        rounds = "" if plan.rounds == 1 else f" in {plan.rounds} rounds"
        text = f"{count:,} point{'s' if count > 1 else ''}, {plan.runs:,} timed steps of each{rounds}"
        notes: list[Line] = [
            [(line, "dim")] for note in self._grid.notes[:2] for line in wrapped(note, width, 2)
        ]
        return [[(text, "strong")], *notes]


def _title(name: str) -> str:
    try:
        return load(name).title
    except PresetError as error:
        return str(error)
