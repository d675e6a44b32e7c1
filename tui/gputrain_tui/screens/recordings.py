"""The recordings in the default folder: one to replay, two to compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.message import Message

from gputrain_runner.paths import sessions_folder
from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.compare import NotComparableError, compare, side
from gputrain_runner.recordings.listing import Recorded, recorded

from .. import format, keys
from ..widgets.text import Line, padded, shorten
from .past import PastScreen


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

    def on_mount(self) -> None:
        """Read the folder."""
        self.read_folder()

    def action_replay(self) -> None:
        """Replay the marked one."""
        marked = self._marked()
        if marked is not None:
            self.post_message(self.Chosen(Path(marked.path)))

    def _folder(self) -> Path:
        return sessions_folder()

    def _list(self) -> Sequence[Recorded]:
        return recorded(sessions_folder())

    def _compared(self, one: Recorded, other: Recorded) -> str | None:
        try:
            a, b = (side(RecordingFile(Path(each.path))) for each in (one, other))
            found = compare(a, b)
        except (UnreadableError, NotComparableError) as error:
            self.say(str(error))
            return None
        from ..commands.compare import as_text

        return as_text(found)

    def _cells(self, each: Recorded, marked: bool, width: int) -> Line:
        started = (each.started_at or "")[:16].replace("T", " ")
        lasted = "no end" if each.seconds is None else format.elapsed(each.seconds)
        rate = format.count(each.samples_per_s)
        device = width - 2 - 18 - 18 - 10 - 22
        return [
            (f"{started}  ", "accent" if marked else "dim"),
            (padded(shorten(each.preset or "", 16), 18), "accent" if marked else "strong"),
            (padded(shorten(each.device or "", max(0, device - 2)), max(0, device)), "dim"),
            (padded(lasted, 10), "dim"),
            (padded(rate, 12, right=True), "strong"),
            (" samples/s", "dim"),
        ]
