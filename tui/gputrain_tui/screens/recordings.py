"""The recordings in the default folder: one to replay, two to compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Thread

from textual.app import ComposeResult
from textual.message import Message

from gputrain_runner.paths import sessions_folder
from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.compare import NotComparableError, compare, side
from gputrain_runner.recordings.listing import Recorded, recorded

from .. import format, keys
from ..widgets.lines import Lines
from ..widgets.text import Line, padded, shorten
from . import heading
from .message_line import AnsweringScreen, MessageLine
from .reading import ReadingScreen


class RecordingsScreen(AnsweringScreen):
    """A list, newest first; what is marked is replayed, or compared with what was marked before."""

    BINDINGS = keys.bindings(keys.RECORDINGS)
    AUTO_FOCUS = ""
    help_place = "recordings"

    class Chosen(Message):
        """The user wants to see this recording."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class Listed(Message):
        """The folder has been read."""

        def __init__(self, found: Sequence[Recorded]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, size_classes: str) -> None:
        super().__init__(classes=f"recordings {size_classes}")
        self._found: Sequence[Recorded] | None = None
        self._at = 0
        self._other: Recorded | None = None
        """The one to compare with."""

    def compose(self) -> ComposeResult:
        """Head, list, message, keys."""
        yield Lines([""], id="recordings-head")
        yield Lines(id="recordings-list")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """Read the folder aside: it may hold hundreds of megabytes."""
        Thread(target=self._list, name="listing recordings", daemon=True).start()

    def _list(self) -> None:
        found = recorded(sessions_folder())
        self.post_message(self.Listed(found))

    def on_recordings_screen_listed(self, event: Listed) -> None:
        """Show them."""
        self._found = event.found
        self.draw()

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Everything."""
        width = self.size.width
        head: Line = [("recordings", "strong"), (f"   {sessions_folder()}", "dim")]
        self.query_one("#recordings-head", Lines).show([head])
        rows = self.query_one("#recordings-list", Lines)
        rows.show(self._rows(width, rows.size.height))
        shown = [*keys.line(keys.RECORDINGS), *keys.line(keys.APP)]
        self.query_one("#keys", Lines).show([heading.keys_line(shown, width)])
        self.query_one("#message", MessageLine).stand(
            "" if self._other is None else f"c on another one compares it with {Path(self._other.path).name}"
        )
        self.drawn()

    def action_move(self, by: int) -> None:
        """Mark another one."""
        if self._found:
            self._at = max(0, min(len(self._found) - 1, self._at + by))
            self.draw()

    def action_replay(self) -> None:
        """Replay the marked one."""
        marked = self._marked()
        if marked is not None:
            self.post_message(self.Chosen(Path(marked.path)))

    def action_compare(self) -> None:
        """Mark the first of two, or compare the marked one with it."""
        marked = self._marked()
        if marked is None:
            return
        if self._other is None or self._other.path == marked.path:
            self._other = None if self._other is not None else marked
            self.draw()
            return
        first, self._other = self._other, None
        try:
            a, b = (side(RecordingFile(Path(each.path))) for each in (first, marked))
            found = compare(a, b)
        except (UnreadableError, NotComparableError) as error:
            self.say(str(error))
            self.draw()
            return
        from ..commands.compare import as_text

        self.app.push_screen(ReadingScreen("two recordings", as_text(found)))

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.app.pop_screen()

    def _marked(self) -> Recorded | None:
        if not self._found:
            self.say("no recordings here yet: c on the training screen makes one")
            return None
        marked = self._found[self._at]
        if marked.problem is not None:
            self.say(f"{marked.path}: {marked.problem}")
            return None
        return marked

    def _rows(self, width: int, height: int) -> list[Line]:
        if self._found is None:
            return [[("reading ...", "dim")]]
        if not self._found:
            return [[("no recordings yet", "dim")]]
        first = max(0, min(self._at - height // 2, len(self._found) - height))
        shown = self._found[first : first + max(1, height)]
        return [self._row(each, first + at, width) for at, each in enumerate(shown)]

    def _row(self, each: Recorded, at: int, width: int) -> Line:
        marked = at == self._at
        sign = "▸ " if marked else "= " if each is self._other else "  "
        if each.problem is not None:
            return [(sign, "accent"), (shorten(f"{Path(each.path).name}: {each.problem}", width - 2), "dim")]
        started = (each.started_at or "")[:16].replace("T", " ")
        lasted = "no end" if each.seconds is None else format.elapsed(each.seconds)
        rate = format.count(each.samples_per_s)
        device = width - 2 - 18 - 18 - 10 - 22
        return [
            (sign, "accent"),
            (f"{started}  ", "accent" if marked else "dim"),
            (padded(shorten(each.preset or "", 16), 18), "accent" if marked else "strong"),
            (padded(shorten(each.device or "", max(0, device - 2)), max(0, device)), "dim"),
            (padded(lasted, 10), "dim"),
            (padded(rate, 12, right=True), "strong"),
            (" samples/s", "dim"),
        ]
