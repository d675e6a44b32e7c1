"""Every action of the app in one registry: its keys, its words, and the Textual action it calls.

Bindings, the line of keys, the help screen and the palette are all made from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual.binding import Binding, BindingType

KEY_NAMES: dict[str, str] = {"pageup": "pgup", "pagedown": "pgdn", "escape": "esc"}
"""Keys whose name is not what people write."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user can do."""

    id: str
    keys: tuple[str, ...]
    """As Textual names them."""
    shown: str
    """The key as people write it."""
    call: str
    """The Textual action, `app.` in front where the app and not the screen does it."""
    word: str
    """One or two words for the line of keys; "" keeps it out of there."""
    does: str
    """A sentence without a full stop, for the help and the palette."""
    sure: str = ""
    """The Textual action where it was chosen in so many words: `call` may want a second press."""

    @property
    def every_key(self) -> tuple[str, ...]:
        """All its keys as people write them, the usual one first."""
        return (self.shown, *(KEY_NAMES.get(key, key) for key in self.keys[1:]))


@dataclass(frozen=True, slots=True)
class StepKeys:
    """The keys that turn one setting."""

    up: str = ""
    """None of its own where it is empty: the marked setting is turned by the arrow keys."""
    up_does: str = ""
    down: str | None = None
    down_does: str = ""

    @property
    def shown(self) -> str:
        """Both keys as the settings panel writes them."""
        if not self.up:
            return "← →"
        return self.up if self.down is None else f"{self.up} {self.down}"


SETTING_KEYS: dict[str, StepKeys] = {
    "device": StepKeys("d", "train on the next device", "D", "train on the previous device"),
    "batch_size": StepKeys("b", "double the batch size", "B", "halve the batch size"),
    "model_size": StepKeys("m", "the next larger model", "M", "the next smaller model"),
    "precision": StepKeys("p", "the next precision"),
    "execution": StepKeys("x", "the next way of execution"),
    "data_path": StepKeys("l", "the next data path"),
    "workers": StepKeys(),
    "models_at_once": StepKeys("n", "more models at once", "N", "fewer models at once"),
    "passes": StepKeys(),
    "threads": StepKeys(),
    "memory_format": StepKeys(),
    "recurrence": StepKeys(),
}
"""Which keys step which setting; the first goes up or to the next."""


def _setting_actions() -> Iterator[Action]:
    for name, keys in SETTING_KEYS.items():
        if not keys.up:
            continue
        yield Action(f"{name}_up", (keys.up,), keys.up, f"turn('{name}', True)", "", keys.up_does)
        if keys.down is not None:
            call = f"turn('{name}', False)"
            yield Action(f"{name}_down", (keys.down,), keys.down, call, "", keys.down_does)


APP: tuple[Action, ...] = (
    Action("recordings", ("ctrl+o",), "ctrl+o", "app.recordings", "", "list the recordings"),
    Action("sweep", ("ctrl+s",), "ctrl+s", "app.sweep", "", "measure a grid of presets, sizes and settings"),
    Action("help", ("question_mark", "f1"), "?", "app.help", "help", "show this help"),
    Action("palette", ("ctrl+p",), "ctrl+p", "app.command_palette", "", "search all actions"),
    Action(
        "suspend",
        ("ctrl+z",),
        "ctrl+z",
        "app.suspend_process",
        "",
        "back to the shell; fg returns",
    ),
    Action("redraw", ("ctrl+l",), "ctrl+l", "app.redraw", "", "draw the screen anew"),
    Action("quit", ("ctrl+q",), "ctrl+q", "app.leave(0)", "quit", "stop training and leave"),
    Action("interrupt", ("ctrl+c",), "ctrl+c", "app.leave(130)", "", "stop and leave with exit code 130"),
)
"""Works on every screen."""

PICKER: tuple[Action, ...] = (
    Action("choose", ("enter",), "enter", "choose", "start", "train the marked preset"),
    Action("up", ("up",), "up", "move(-1)", "", "the preset above"),
    Action("down", ("down",), "down", "move(1)", "", "the preset below"),
    Action("first", ("home", "pageup"), "home", "move(-1000)", "", "the first preset"),
    Action("last", ("end", "pagedown"), "end", "move(1000)", "", "the last preset"),
    Action("erase", ("backspace", "ctrl+h"), "backspace", "erase", "", "erase a letter of the filter"),
    Action("clear", ("escape",), "esc", "clear", "", "clear the filter"),
)

SWEEP_SETUP: tuple[Action, ...] = (
    Action("choice_up", ("up",), "up", "move(-1)", "", "the line above"),
    Action("choice_down", ("down",), "down", "move(1)", "", "the line below"),
    Action("choice_edit", ("enter",), "enter", "edit", "choose", "choose or type what the marked line says"),
    Action("sweep_start", ("s",), "s", "start", "start", "begin the sweep"),
    Action("sweep_file", ("f",), "f", "file", "file", "add a preset from a file of your own"),
    Action("sweeps", ("o",), "o", "sweeps", "past sweeps", "list the sweeps there are"),
    Action("sweep_setup_close", ("escape",), "esc", "close", "presets", "back to the presets"),
)

SWEEP: tuple[Action, ...] = (
    Action("point_up", ("up",), "up", "move(-1)", "", "the row above"),
    Action("point_down", ("down",), "down", "move(1)", "", "the row below; the curves are its net's"),
    Action("point_left", ("left",), "←", "across(-1)", "", "the column to the left"),
    Action("point_right", ("right",), "→", "across(1)", "", "the column to the right"),
    Action("point_first", ("home", "pageup"), "home", "move(-100000)", "", "the first row"),
    Action("point_last", ("end", "pagedown"), "end", "move(100000)", "", "the last row"),
    Action("sweep_turn", ("s",), "s", "turn", "stop", "stop the sweep, or go on with it"),
    Action(
        "sweep_retry", ("f",), "f", "retry", "", "measure again what failed, did not fit or took too long"
    ),
    Action(
        "sweep_close", ("escape",), "esc", "back", "back", "stop the sweep and go back", sure="back(True)"
    ),
    Action("sweep_leave", ("q",), "q", "app.leave(0)", "quit", "stop the sweep and leave"),
)

SWEEPS: tuple[Action, ...] = (
    Action("swept_up", ("up",), "up", "move(-1)", "", "the sweep above"),
    Action("swept_down", ("down",), "down", "move(1)", "", "the sweep below"),
    Action("swept_first", ("home", "pageup"), "home", "move(-100000)", "", "the newest sweep"),
    Action("swept_last", ("end", "pagedown"), "end", "move(100000)", "", "the oldest sweep"),
    Action("swept_open", ("enter",), "enter", "open", "open", "show the marked sweep"),
    Action("swept_compare", ("c",), "c", "compare", "compare", "mark one, then compare another with it"),
    Action("swept_close", ("escape",), "esc", "close", "back", "back to what is to be measured"),
)

TRAINING: tuple[Action, ...] = (
    *_setting_actions(),
    Action("cursor_up", ("up",), "up", "cursor(-1)", "", "mark the setting above"),
    Action("cursor_down", ("down",), "down", "cursor(1)", "", "mark the setting below"),
    Action("marked_down", ("left",), "←", "turn_marked(False)", "", "turn the marked setting down"),
    Action("marked_up", ("right",), "→", "turn_marked(True)", "", "turn the marked setting up"),
    Action("edit", ("enter",), "enter", "edit", "edit", "type a value for the marked setting"),
    Action("apply", ("a",), "a", "apply", "apply", "apply the verdict's first remedy"),
    Action("undo", ("u",), "u", "undo", "undo", "undo the last change"),
    Action(
        "verdict",
        ("v",),
        "v",
        "verdict",
        "why",
        "show why it is slow: the whole reasoning",
    ),
    Action("pause", ("space",), "space", "pause", "pause", "pause, or go on"),
    Action(
        "probe",
        ("P",),
        "P",
        "probe",
        "",
        "measure this machine's ceilings; training waits",
    ),
    Action("record", ("c",), "c", "record", "record", "start or complete a recording"),
    Action(
        "restart",
        ("r",),
        "r",
        "restart",
        "",
        "start a new worker with the same settings",
        sure="restart(True)",
    ),
    Action("gpus", ("g",), "g", "gpus", "GPUs", "show all GPUs and everything known of them"),
    Action("span", ("t",), "t", "span", "", "a longer time span of the charts, from two minutes to a day"),
    Action("view_1", ("1",), "1", "view('step')", "", "show the step"),
    Action("view_2", ("2",), "2", "view('gpu')", "", "show the GPU"),
    Action("view_3", ("3",), "3", "view('why')", "", "show why it is slow, and the changes"),
    Action(
        "back",
        ("escape",),
        "esc",
        "back",
        "presets",
        "end this session, back to the presets",
        sure="back(True)",
    ),
    Action("leave", ("q",), "q", "app.leave(0)", "quit", "stop training and leave"),
)

GPUS: tuple[Action, ...] = (
    Action("gpu_up", ("up",), "up", "mark(-1)", "", "the GPU above"),
    Action("gpu_down", ("down",), "down", "mark(1)", "next GPU", "the GPU below"),
    Action("page_up", ("pageup",), "pgup", "scroll(-1)", "", "scroll what is known of it up"),
    Action("page_down", ("pagedown", "space"), "pgdn", "scroll(1)", "scroll", "scroll it down"),
    Action("close", ("escape", "g"), "esc", "close", "training", "back to the training"),
    Action("gpus_leave", ("q",), "q", "app.leave(0)", "quit", "stop training and leave"),
)

VERDICT: tuple[Action, ...] = (
    Action("remedy_up", ("up",), "up", "mark(-1)", "", "the remedy above"),
    Action("remedy_down", ("down",), "down", "mark(1)", "next", "the remedy below"),
    Action("apply_remedy", ("enter", "a"), "enter", "apply", "apply", "apply the marked remedy"),
    Action("undo_remedy", ("u",), "u", "undo", "undo", "undo the last change"),
    Action("explain", ("question_mark",), "?", "explain", "explain", "explain the idea in plain words"),
    Action("reasons_up", ("pageup",), "pgup", "scroll(-1)", "", "scroll up"),
    Action("reasons_down", ("pagedown", "space"), "pgdn", "scroll(1)", "scroll", "scroll down"),
    Action("verdict_close", ("escape", "v"), "esc", "close", "training", "back to the training"),
    Action("verdict_leave", ("q",), "q", "app.leave(0)", "quit", "stop training and leave"),
)

REPLAY: tuple[Action, ...] = (
    Action("slower", ("less_than_sign",), "<", "speed(False)", "slower", "play half as fast"),
    Action("faster", ("greater_than_sign",), ">", "speed(True)", "faster", "play twice as fast"),
    Action("change_before", ("left_square_bracket",), "[", "jump('before')", "", "to the change before"),
    Action("change_after", ("right_square_bracket",), "]", "jump('next')", "change", "to the next change"),
    Action("begin", ("home",), "home", "jump('begin')", "", "to the beginning"),
    Action("end", ("end",), "end", "jump('end')", "end", "to the end, and follow a file that grows"),
)

RECORDINGS: tuple[Action, ...] = (
    Action("recording_up", ("up",), "up", "move(-1)", "", "the recording above"),
    Action("recording_down", ("down",), "down", "move(1)", "", "the recording below"),
    Action("recordings_first", ("home",), "home", "move(-100000)", "", "the newest recording"),
    Action("recordings_last", ("end",), "end", "move(100000)", "", "the oldest recording"),
    Action("page_of_newer", ("pageup",), "pgup", "move(-15)", "", "some recordings up"),
    Action("page_of_older", ("pagedown",), "pgdn", "move(15)", "", "some recordings down"),
    Action("replay", ("enter",), "enter", "replay", "replay", "replay the marked recording"),
    Action("compare", ("c",), "c", "compare", "compare", "mark one, then compare another with it"),
    Action("recordings_close", ("escape",), "esc", "close", "back", "back to where it was opened"),
)

READING: tuple[Action, ...] = (
    Action("line_up", ("up",), "up", "scroll(-1)", "", "a line up"),
    Action("line_down", ("down",), "down", "scroll(1)", "scroll", "a line down"),
    Action("text_up", ("pageup",), "pgup", "scroll(-15)", "", "a page up"),
    Action("text_down", ("pagedown", "space"), "pgdn", "scroll(15)", "", "a page down"),
    Action("reading_close", ("escape", "q"), "esc", "close", "back", "back"),
)

EVERY: tuple[Action, ...] = (
    *(*APP, *PICKER, *TRAINING, *GPUS, *VERDICT, *REPLAY, *RECORDINGS, *READING),
    *(*SWEEP_SETUP, *SWEEP, *SWEEPS),
)
"""Of all screens."""


def bindings(actions: Iterable[Action]) -> list[BindingType]:
    """The actions as Textual bindings, never shown in a Footer of Textual's."""
    return [
        Binding(
            ",".join(action.keys),
            action.call,
            action.does,
            show=False,
            priority=action.id in ("quit", "interrupt", "suspend"),
            id=action.id,
            tooltip=action.does,
        )
        for action in actions
    ]


def line(actions: Iterable[Action], words: dict[str, str] | None = None) -> list[tuple[str, str]]:
    """Key and word of the actions that belong into the line of keys; `words` replaces some by their id."""
    replaced = words or {}
    return [
        (action.shown, replaced.get(action.id, action.word))
        for action in actions
        if replaced.get(action.id, action.word)
    ]


def by_id(identifier: str) -> Action:
    """The action of that id."""
    return next(action for action in EVERY if action.id == identifier)
