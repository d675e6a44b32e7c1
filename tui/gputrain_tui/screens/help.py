"""The help: which key does what, and what the words on the screen mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen

from ..key_places import HELP_KEY
from ..keys import by_id
from ..widgets.lines import Lines
from ..widgets.text import Line, padded, width_of, wrapped

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
    (("apply",), "apply the first remedy of the verdict"),
    (("undo",), "undo the last change"),
)
ON_TRAINING: Rows = (
    (("pause",), "pause, and go on"),
    (("probe",), "measure this machine's ceilings: about 10 s for each device, in which training waits"),
    (("record",), "record the session from its beginning; the same key completes the recording"),
    (("restart",), "start a new worker with the same settings"),
    (("verdict",), "why it is slow: all that holds, its evidence, remedies and what they predict"),
    (("gpus",), "all GPUs, and everything that is known of them"),
    (("span",), "a longer time span of the charts: two minutes up to a day, then from the beginning"),
    (("view_1", "view_2", "view_3"), "the step, the GPU, why and the changes, where they do not fit at once"),
    (("back",), "end this session, back to the presets"),
    (("leave",), "stop training and leave"),
)
ON_GPUS: Rows = (
    (("gpu_up", "gpu_down"), "mark a GPU; below is what is known of it"),
    (("page_up", "page_down"), "scroll what is known of it"),
    (("close",), "back to the training, which goes on meanwhile"),
    (("gpus_leave",), "stop training and leave"),
)
ON_REMEDIES: Rows = (
    (("remedy_up", "remedy_down"), "mark a remedy"),
    (("explain",), "explain the idea behind the marked one in plain words"),
    (("reasons_up", "reasons_down"), "scroll"),
)
ON_VERDICT: Rows = (
    *ON_REMEDIES,
    (("apply_remedy",), "apply it through the ordinary settings; what came of it stands in the changes"),
    (("undo_remedy",), "undo the last change"),
    (("verdict_close",), "back to the training, which goes on meanwhile"),
    (("verdict_leave",), "stop training and leave"),
)
ON_REPLAY: Rows = (
    (("pause",), "hold, and go on"),
    (("slower", "faster"), "play half, twice as fast"),
    (("change_before", "change_after"), "to the change before, to the next one"),
    (("begin", "end"), "to the beginning, to the end; a file that grows is followed"),
    (("verdict",), "why it was slow: the verdict of that time"),
    (("gpus",), "all GPUs, and everything that was known of them"),
    (("span",), "a longer time span of the charts"),
    (("view_1", "view_2", "view_3"), "the views, where they do not fit at once"),
    (("back",), "leave the recording"),
    (("leave",), "leave the program"),
)
ON_REPLAY_GPUS: Rows = (
    *ON_GPUS[:-2],
    (("close",), "back to the recording"),
    (("gpus_leave",), "leave the program"),
)
ON_REPLAY_VERDICT: Rows = (
    *ON_REMEDIES,
    (("verdict_close",), "back to the recording"),
    (("verdict_leave",), "leave the program"),
)
ON_RECORDINGS: Rows = (
    (("recording_up", "recording_down", "recordings_first", "recordings_last"), "mark a recording"),
    (("page_of_newer", "page_of_older"), "some recordings up, down"),
    (("replay",), "replay it"),
    (("compare",), "mark it; on another one: compare the two"),
    (("recordings_close",), "back"),
)
ON_SWEEP_SETUP: Rows = (
    (("choice_up", "choice_down"), "mark a line"),
    (("choice_edit",), "choose or type what it says"),
    (("sweep_file",), "add a preset from a file of your own"),
    (("sweep_start",), "begin: every point is measured in a process of its own"),
    (("sweeps",), "the sweeps there are: to look at, compare, go on with"),
    (("sweep_setup_close",), "back to the presets"),
)
ON_SWEEP: Rows = (
    (("point_up", "point_down", "point_first", "point_last"), "mark a row; the curves are its net's"),
    (("point_left", "point_right"), "mark a column; below is all about the marked point"),
    (("sweep_turn",), "stop, and go on with what is not measured yet; the file is whole at any time"),
    (("sweep_retry",), "measure again what failed, did not fit or took too long"),
    (("sweep_close",), "back; a sweep that runs is stopped at the second press"),
    (("sweep_leave",), "stop the sweep and leave"),
)
ON_SWEEPS: Rows = (
    (("swept_up", "swept_down", "swept_first", "swept_last"), "mark a sweep"),
    (("swept_open",), "show it; one that is not complete can be gone on with"),
    (("swept_compare",), "mark it; on another one: compare the two"),
    (("swept_close",), "back"),
)
ON_READING: Rows = (
    (("line_up", "line_down", "text_up", "text_down"), "scroll"),
    (("reading_close",), "back"),
)
ANYWHERE: Rows = (
    (("palette",), "search all presets, settings and actions, also by other words for them"),
    (("recordings",), "list the recordings, to replay one, or to follow one that is being written"),
    (("sweep",), "measure a grid of presets, sizes and settings; where nothing trains"),
    (("help",), "this help"),
    (("suspend",), "back to the shell while training goes on; fg returns"),
    (("redraw",), "draw the screen anew, where something else has written over it"),
    (("quit", "interrupt"), "stop training and leave, the second with exit code 130"),
)
PLACES: dict[str, tuple[tuple[str, Rows], ...]] = {
    "picker": (("PRESETS", ON_PICKER),),
    "training": (("SETTINGS", ON_SETTINGS), ("TRAINING", ON_TRAINING)),
    "gpus": (("GPUS", ON_GPUS),),
    "verdict": (("WHY SO SLOW", ON_VERDICT),),
    "replay": (("REPLAY", ON_REPLAY),),
    "replay gpus": (("GPUS OF THE RECORDING", ON_REPLAY_GPUS),),
    "replay verdict": (("WHY IT WAS SLOW", ON_REPLAY_VERDICT),),
    "recordings": (("RECORDINGS", ON_RECORDINGS),),
    "reading": (("READING", ON_READING),),
    "sweep setup": (("WHAT TO MEASURE", ON_SWEEP_SETUP),),
    "sweep": (("SWEEP", ON_SWEEP),),
    "sweeps": (("SWEEPS", ON_SWEEPS),),
}
"""The keys of each screen, by its name in `key_places.PLACES`."""
WORDS = (
    (
        "step",
        "One mini-batch: its data, the copy to the device (h2d), forward, backward, optimizer, other. Its "
        "time is the mean of the steps that are timed phase by phase; samples/s counts every step.",
    ),
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
    (
        "SM active",
        "Of all multiprocessors together, the share of time in which they had work: the filled area below "
        "the line of the utilisation. Only GPUs from Hopper on tell it.",
    ),
    (
        "memory",
        "Allocated: in tensors. Cached: held by PyTorch for the next ones. Context: what else this training "
        "has there, as CUDA itself and workspaces. Others: other processes. Driver: kept by the driver.",
    ),
    (
        "slowed",
        "Why the clocks are lower than they could be. A power cap is normal at full load; heat and a power "
        "brake are not. A performance state of P0 is full, P15 the lowest.",
    ),
    ("PCIe rx, tx", "Bytes a second over the link, as the GPU sees it: rx host to GPU, tx GPU to host."),
    (
        "ceiling",
        "What matrix products reach on this device in this precision, as measured here with P. FLOP/s are "
        "shown as a share of it. Convolutions may exceed 100 %: Winograd's method computes them with fewer "
        "multiplications than are counted.",
    ),
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
    (
        "verdict",
        "The bottleneck of a step, judged once a second from its steady steps, and what would help. Its "
        "slice is how much of the step it accounts for; removing it entirely cannot give more than the ratio "
        "beside it.",
    ),
    (
        "predicts",
        "×4.1 (3.4–4.6): what a remedy is expected to give, and the range it should lie in. After it was "
        "applied, the measured effect stands beside it.",
    ),
    ("n/a", "Not measured or not known here. 0 is a measured zero."),
)


class HelpText(Lines):
    """All tables, wrapped to the width there is."""

    def __init__(self, place: str, costs: Sequence[tuple[str, str]], *, id: str) -> None:
        super().__init__(id=id)
        self._place = place
        self._costs = costs

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Keys by group, what the program itself takes, then the words."""
        lines: list[Line] = []
        for title, rows in (*PLACES[self._place], ("ANYWHERE", ANYWHERE)):
            lines += ["", [(title, "strong")]]
            for actions, does in rows:
                lines += _entry(" ".join(_keys_of(action, self._place) for action in actions), does, width)
        if self._costs:
            lines += ["", [("WHAT THIS PROGRAM ITSELF TAKES", "strong")]]
        for label, cost in self._costs:
            lines += _entry(label, cost, width)
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

    def __init__(self, place: str, costs: Sequence[tuple[str, str]] = ()) -> None:
        """`place`: the screen it is asked for on, a name in PLACES; `costs`: labels and texts."""
        super().__init__(classes="help")
        self._place = place
        self._costs = costs

    def compose(self) -> ComposeResult:
        """The text in a box, and how to leave."""
        with VerticalScroll(id="help-box"):
            yield HelpText(self._place, self._costs, id="help-text")
        keys: Line = [("esc", "strong"), (" close   ", "dim"), ("up down", "strong"), (" scroll", "dim")]
        yield Lines([keys], id="help-keys")

    def action_close(self) -> None:
        """Back to what was there."""
        self.dismiss(None)


def _keys_of(action: str, place: str) -> str:
    """All keys of an action, as they are there."""
    if action == "help" and place in HELP_KEY:
        return HELP_KEY[place]
    return " ".join(by_id(action).every_key)


def _entry(word: str, meaning: str, width: int) -> list[Line]:
    """A word, or keys, and beside it what it means; below it where it is long."""
    indent = " " * (KEY_CELLS + 2)
    lines = wrapped(meaning, max(20, width - len(indent)), 9)
    if width_of(word) > KEY_CELLS:
        return [[(word, "accent")], *(indent + line for line in lines)]
    first, *more = lines
    return [[(padded(word, KEY_CELLS) + "  ", "accent"), first], *(indent + line for line in more)]
