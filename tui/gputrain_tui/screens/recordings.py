"""The recordings in the default folder: one to replay, two to compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from textual.message import Message

from gputrain_runner.paths import sessions_folder
from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.compare import NotComparableError, compare, side
from gputrain_runner.recordings.listing import Recorded, recorded

from .. import device_names, format, keys, recording_text
from ..widgets.text import Line, padded, shorten
from .past import PastScreen

GAP = 2
TIME_CELLS, PRESET_CELLS, LASTED_CELLS, RATE_CELLS = 18, 17, 15, 10
"""Widths of the columns, the gap behind each included; the device's has what is left."""


class RecordingsScreen(PastScreen[Recorded]):
    """A list, newest first; what is marked is replayed, or compared with what was marked before."""

    BINDINGS = keys.bindings(keys.RECORDINGS)
    help_place = "recordings"
    name_of_all = "recordings"
    actions = keys.RECORDINGS
    none_yet = "no recordings here yet: c on the training screen makes one"

    class Chosen(Message):
        """The user wants to see this recording."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    def action_replay(self) -> None:
        """Replay the marked one."""
        marked = self._marked()
        if marked is not None:
            self.post_message(self.Chosen(Path(marked.path)))

    def _folder(self) -> Path:
        return sessions_folder()

    def _list(self) -> Sequence[Recorded]:
        return recorded(sessions_folder())

    def _compared(self, one: Recorded, other: Recorded) -> Callable[[int], str] | None:
        try:
            a, b = (side(RecordingFile(Path(each.path))) for each in (one, other))
            found = compare(a, b)
        except (UnreadableError, NotComparableError) as error:
            self.say(str(error))
            return None
        from ..commands.compare import as_text

        return lambda width: as_text(found, width)

    def _heads(self, width: int) -> str:
        device = padded("device", _device_cells(width))
        lasted, rate = padded("for", LASTED_CELLS), padded("samples/s", RATE_CELLS, right=True)
        return f"{padded('started (UTC)', TIME_CELLS)}{padded('preset', PRESET_CELLS)}{device}{lasted}{rate}"

    def _cells(self, each: Recorded, marked: bool, width: int) -> Line:
        started = (each.started_at or "")[:16].replace("T", " ")
        cells = _device_cells(width - 2)
        room = max(0, cells - GAP)
        device = each.device or ""
        if len(device) > room or each.torch_device == "cpu":
            device = device_names.beside(each.torch_device, each.device)
        return [
            (padded(started, TIME_CELLS), "accent" if marked else "dim"),
            (
                padded(shorten(each.preset or "", PRESET_CELLS - GAP), PRESET_CELLS),
                "accent" if marked else "strong",
            ),
            (padded(shorten(device, room), cells), "dim"),
            (padded(recording_text.lasted(each), LASTED_CELLS), "dim"),
            (padded(format.count(each.samples_per_s), RATE_CELLS, right=True), "strong"),
        ]


def _device_cells(width: int) -> int:
    """What the other columns leave."""
    return max(0, width - TIME_CELLS - PRESET_CELLS - LASTED_CELLS - RATE_CELLS)
