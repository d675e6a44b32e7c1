"""The help: which key does what, and what the words on the screen mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen

from ..keys import by_id
from ..widgets.lines import Lines
from ..widgets.text import Line, padded, wrapped

KEY_CELLS = 12
Rows = tuple[tuple[tuple[str, ...], str], ...]
"""The ids of some actions, and in a line what they do together."""

ON_PICKER: Rows = (
    (("up", "down", "first", "last"), "mark a preset; typing letters filters them"),
    (("choose",), "train the marked preset, or open a file of your own"),
    (("erase", "clear"), "erase a letter of the filter, or all of it"),
)
ON_SETTINGS: Rows = (
    (("device_up", "device_down"), "device: next, previous"),
    (("batch_size_up", "batch_size_down"), "batch size: double, halve"),
    (("model_size_up", "model_size_down"), "model size: larger, smaller; the model starts over"),
    (("precision_up",), "precision: next"),
    (("execution_up",), "execution: next"),
    (("data_path_up",), "data path: next"),
    (("models_at_once_up", "models_at_once_down"), "models trained at once: more, fewer"),
    (("cursor_up", "cursor_down"), "mark a setting"),
    (("marked_down", "marked_up"), "turn the marked setting down, up"),
    (("edit",), "type a value for the marked setting"),
    (("undo",), "undo the last change"),
)
ON_TRAINING: Rows = (
    (("pause",), "pause, and go on"),
    (("record",), "record the session from its beginning; the same key completes the recording"),
    (("restart",), "start a new worker with the same settings"),
    (("view_1", "view_2", "view_3"), "the step, the GPU, the changes, where they do not fit at once"),
    (("back",), "end this session, back to the presets"),
    (("leave",), "stop training and leave"),
)
ANYWHERE: Rows = (
    (("palette",), "search all presets, devices and actions"),
    (("help",), "this help"),
    (("suspend",), "back to the shell while training goes on; fg returns"),
    (("redraw",), "draw the screen anew, where something else has written over it"),
    (("quit", "interrupt"), "stop training and leave, the second with exit code 130"),
)
WORDS = (
    ("step", "One mini-batch: its data, the copy to the device (h2d), forward, backward, optimizer, other."),
    (
        "host time",
        "What the training thread spent in a phase. With a GPU that is mostly queueing work, not doing it.",
    ),
    (
        "device time",
        "The span between the GPU's own marks around a phase. It contains the gaps in which the GPU waited "
        "for the host, so a long span is not yet a busy GPU. A CPU has none.",
    ),
    ("busy", "The share of the time in which the GPU really executed work of this training."),
    (
        "utilisation",
        "The driver's figure: the share of its window in which anything at all was on the GPU. One small "
        "kernel at a time can make it 60 % while nearly all of the GPU is idle.",
    ),
    ("PCIe rx, tx", "Bytes a second over the link, as the GPU sees it: rx host to GPU, tx GPU to host."),
    (
        "steady",
        "The steps after a change have settled. Only steady rates are compared; IQR is the spread of their "
        "middle half.",
    ),
    (
        "effect",
        "After a change: the rate now divided by the rate before, with the range it may lie in. ×1.71 "
        "(1.68–1.74) is 71 % faster.",
    ),
    ("n/a", "Not measured or not known here. 0 is a measured zero."),
)


class HelpText(Lines):
    """Both tables, wrapped to the width there is."""

    def __init__(self, groups: Sequence[tuple[str, Rows]], *, id: str) -> None:
        super().__init__(id=id)
        self._groups = groups

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Keys by group, then the words."""
        lines: list[Line] = []
        for title, rows in self._groups:
            lines += ["", [(title, "strong")]]
            for actions, does in rows:
                lines += _entry(" ".join(by_id(action).shown for action in actions), does, width)
        lines += ["", [("WORDS", "strong")]]
        for word, meaning in WORDS:
            lines += _entry(word, meaning, width)
        return lines[1:]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """All lines; the container scrolls."""
        return len(self.build(width, 0))


class HelpScreen(ModalScreen[None]):
    """Closes on escape, ? or q; scrolls by the arrow and page keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q,enter", "close", "close the help", show=False),
    ]

    def __init__(self, *, on_picker: bool) -> None:
        """`on_picker`: whether it is asked for on the picker, whose keys then come instead of training's."""
        super().__init__(classes="help")
        here = (
            (("PRESETS", ON_PICKER),) if on_picker else (("SETTINGS", ON_SETTINGS), ("TRAINING", ON_TRAINING))
        )
        self._groups = (*here, ("ANYWHERE", ANYWHERE))

    def compose(self) -> ComposeResult:
        """The text in a box, and how to leave."""
        with VerticalScroll(id="help-box"):
            yield HelpText(self._groups, id="help-text")
        keys: Line = [("esc", "strong"), (" close   ", "dim"), ("up down", "strong"), (" scroll", "dim")]
        yield Lines([keys], id="help-keys")

    def action_close(self) -> None:
        """Back to what was there."""
        self.dismiss(None)


def _entry(word: str, meaning: str, width: int) -> list[Line]:
    first, *more = wrapped(meaning, max(20, width - KEY_CELLS - 2), 9)
    return [
        [(padded(word, KEY_CELLS) + "  ", "accent"), first],
        *(" " * (KEY_CELLS + 2) + line for line in more),
    ]
