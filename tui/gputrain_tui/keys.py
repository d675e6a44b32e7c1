"""Every action of the app in one registry: its keys, its words, and the Textual action it calls.

Bindings, the line of keys, the help screen and the palette are all made from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from textual.binding import Binding, BindingType


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

TRAINING: tuple[Action, ...] = (
    *_setting_actions(),
    Action("cursor_up", ("up",), "up", "cursor(-1)", "", "mark the setting above"),
    Action("cursor_down", ("down",), "down", "cursor(1)", "", "mark the setting below"),
    Action("marked_down", ("left",), "←", "turn_marked(False)", "", "turn the marked setting down"),
    Action("marked_up", ("right",), "→", "turn_marked(True)", "", "turn the marked setting up"),
    Action("edit", ("enter",), "enter", "edit", "edit", "type a value for the marked setting"),
    Action("undo", ("u",), "u", "undo", "undo", "undo the last change"),
    Action("pause", ("space",), "space", "pause", "pause", "pause, or go on"),
    Action("record", ("c",), "c", "record", "record", "start or complete a recording"),
    Action("restart", ("r",), "r", "restart", "", "start a new worker with the same settings"),
    Action("view_1", ("1",), "1", "view('step')", "", "show the step"),
    Action("view_2", ("2",), "2", "view('gpu')", "", "show the GPU"),
    Action("view_3", ("3",), "3", "view('changes')", "", "show the changes"),
    Action("back", ("escape",), "esc", "app.presets", "presets", "end this session, back to the presets"),
    Action("leave", ("q",), "q", "app.leave(0)", "quit", "stop training and leave"),
)


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
    return next(action for action in (*APP, *PICKER, *TRAINING) if action.id == identifier)
