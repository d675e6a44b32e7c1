"""The sweeps in the default folder: one to look at or go on with, two to compare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gputrain_runner.paths import sweeps_folder
from gputrain_runner.recordings.compare import NotComparableError
from gputrain_runner.sweep.listing import Swept, swept
from gputrain_runner.sweep.result import SweepFileError, load

from .. import keys
from ..commands.compare_sweeps import as_text, compared
from ..commands.parsing import UsageError
from ..sweep_run import Sweeps
from ..widgets.text import Line, padded, shorten
from .past import PastScreen
from .sweep import SweepScreen, size_classes

TIME_CELLS, COUNT_CELLS = 18, 22


class SweepsScreen(PastScreen[Swept]):
    """A list, newest first."""

    BINDINGS = keys.bindings(keys.SWEEPS)
    help_place = "sweeps"
    name_of_all = "sweeps"
    actions = keys.SWEEPS
    none_yet = "no sweeps here yet: esc, then s begins one"

    def __init__(self, sweeps: Sweeps, sized: str) -> None:
        """`sweeps`: what goes on with one; `sized`: the classes of the terminal's size."""
        super().__init__(sized)
        self._sweeps = sweeps

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

    def _folder(self) -> Path:
        return sweeps_folder()

    def _list(self) -> Sequence[Swept]:
        return swept(sweeps_folder())

    def _compared(self, one: Swept, other: Swept) -> Callable[[int], str] | None:
        try:
            found = compared(one.path, other.path, anyway=False)
        except (UsageError, NotComparableError) as error:
            self.say(str(error))
            return None
        return lambda width: as_text(found, width)

    def _heads(self, width: int) -> str:
        what = padded("what was measured", _room(width))
        return f"{padded('started (UTC)', TIME_CELLS)}{what}{padded('how far', COUNT_CELLS, right=True)}"

    def _cells(self, each: Swept, marked: bool, width: int) -> Line:
        count = f"{each.measured} points" if each.complete else f"{each.measured} of {each.planned} points"
        room = _room(width - 2)
        what = (
            f"{', '.join(each.presets)} on {', '.join(each.devices)}" if each.presets else "nothing measured"
        )
        return [
            (padded(each.started_at[:16].replace("T", " "), TIME_CELLS), "accent" if marked else "dim"),
            (padded(shorten(what, room - 2), room), "strong" if each.complete else ""),
            (padded(count, COUNT_CELLS, right=True), "dim" if each.complete else "warning"),
        ]


def _room(width: int) -> int:
    """Cells for what was measured: what the other columns leave."""
    return max(8, width - TIME_CELLS - COUNT_CELLS)
