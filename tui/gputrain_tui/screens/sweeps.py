"""The sweeps in the default folder: one to look at or go on with, two to compare."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

from textual.app import ComposeResult
from textual.message import Message

from gputrain_runner.paths import sweeps_folder
from gputrain_runner.recordings.compare import NotComparableError
from gputrain_runner.sweep.listing import Swept, swept
from gputrain_runner.sweep.result import SweepFileError, load

from .. import keys
from ..commands.compare_sweeps import as_text, compared
from ..commands.parsing import UsageError
from ..sweep_run import Sweeps
from ..widgets.lines import Lines
from ..widgets.text import Line, padded, shorten
from . import heading
from .message_line import AnsweringScreen, MessageLine
from .reading import ReadingScreen
from .sweep import SweepScreen, size_classes

TIME_CELLS, COUNT_CELLS = 18, 22


class SweepsScreen(AnsweringScreen):
    """A list, newest first."""

    BINDINGS = keys.bindings(keys.SWEEPS)
    AUTO_FOCUS = ""
    help_place = "sweeps"

    class Listed(Message):
        """The folder has been read."""

        def __init__(self, found: Sequence[Swept]) -> None:
            super().__init__()
            self.found = found

    def __init__(self, sweeps: Sweeps, sized: str) -> None:
        """`sweeps`: what goes on with one; `sized`: the classes of the terminal's size."""
        super().__init__(classes=f"sweeps {sized}")
        self._sweeps = sweeps
        self._found: Sequence[Swept] | None = None
        self._at = 0
        self._other: Swept | None = None
        """The one to compare with."""

    def compose(self) -> ComposeResult:
        """Head, list, message, keys."""
        yield Lines([""], id="sweeps-head")
        yield Lines(id="sweeps-list")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_screen_resume(self) -> None:
        """Read the folder, aside; also anew on coming back from a sweep."""
        super().on_screen_resume()
        Thread(target=self._list, name="listing sweeps", daemon=True).start()

    def _list(self) -> None:
        found = swept(sweeps_folder())
        self.post_message(self.Listed(found))

    def on_sweeps_screen_listed(self, event: Listed) -> None:
        """Show them."""
        self._found = event.found
        self._at = max(0, min(self._at, len(self._found) - 1))
        self.draw()

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def draw(self) -> None:
        """Everything."""
        width = self.size.width
        head: Line = [("sweeps", "strong"), (f"   {sweeps_folder()}", "dim")]
        self.query_one("#sweeps-head", Lines).show([head])
        rows = self.query_one("#sweeps-list", Lines)
        rows.show(self._rows(width, rows.size.height))
        shown = [*keys.line(keys.SWEEPS), *keys.line(keys.APP)]
        self.query_one("#keys", Lines).show([heading.keys_line(shown, width)])
        self.query_one("#message", MessageLine).stand(
            "" if self._other is None else f"c on another one compares it with {self._other.path.name}"
        )
        self.drawn()

    def action_move(self, by: int) -> None:
        """Mark another one."""
        if self._found:
            self._at = max(0, min(len(self._found) - 1, self._at + by))
            self.draw()

    def action_open(self) -> None:
        """Show the marked one."""
        marked = self._marked()
        if marked is None:
            return
        try:
            opened = load(marked.path)
        except SweepFileError as error:
            self.say(str(error))
            return
        screen = SweepScreen(self._sweeps, size_classes(self), path=marked.path, opened=opened)
        self.app.push_screen(screen)

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
            found = compared(first.path, marked.path, anyway=False)
        except (UsageError, NotComparableError) as error:
            self.say(str(error))
            self.draw()
            return
        self.app.push_screen(ReadingScreen("two sweeps", as_text(found)))

    def action_close(self) -> None:
        """Back to where it was opened."""
        self.app.pop_screen()

    def _marked(self) -> Swept | None:
        if not self._found:
            self.say("no sweeps here yet: esc, then s begins one")
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
            return [[("no sweeps yet", "dim")]]
        first = max(0, min(self._at - height // 2, len(self._found) - height))
        shown = self._found[first : first + max(1, height)]
        return [self._row(each, first + at, width) for at, each in enumerate(shown)]

    def _row(self, each: Swept, at: int, width: int) -> Line:
        marked = at == self._at
        is_other = self._other is not None and each.path == self._other.path
        sign = "▸ " if marked else "= " if is_other else "  "
        if each.problem is not None:
            return [(sign, "accent"), (shorten(f"{each.path.name}: {each.problem}", width - 2), "dim")]
        count = f"{each.measured} points" if each.complete else f"{each.measured} of {each.planned} points"
        room = max(8, width - 2 - TIME_CELLS - COUNT_CELLS)
        what = (
            f"{', '.join(each.presets)} on {', '.join(each.devices)}" if each.presets else "nothing measured"
        )
        return [
            (sign, "accent"),
            (padded(each.started_at[:16].replace("T", " "), TIME_CELLS), "accent" if marked else "dim"),
            (padded(shorten(what, room - 2), room), "strong" if each.complete else ""),
            (padded(count, COUNT_CELLS, right=True), "dim" if each.complete else "warning"),
        ]
