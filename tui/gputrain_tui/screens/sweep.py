"""A sweep: its table and curves filling while it runs, or as a file holds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.screen import Screen

from gputrain_runner.sweep.job import Job, JobError, resumed_job
from gputrain_runner.sweep.plan import Point
from gputrain_runner.sweep.result import PointResult, SweepFile

from .. import format, keys
from ..sweep_matrix import Curve, Matrix
from ..sweep_run import RunningSweep, Sweeps
from ..widgets.batch_chart import BatchChart
from ..widgets.lines import Lines
from ..widgets.sweep_table import SweepTable
from ..widgets.text import Line, Run, shorten, width_of, wrapped
from . import heading
from .message_line import AnsweringScreen, MessageLine
from .sweep_words import about_point, marks, with_line

PULL_S = 0.25
SURE_S = 3.0
STOP_WAIT_S = 0.35
"""How long leaving waits for the file to be whole and the worker to be gone."""
NOTE_ROWS = 2


class SweepScreen(AnsweringScreen):
    """Pulls what the sweep has come to; its end, by key or with the screen, leaves the file whole."""

    BINDINGS = keys.bindings(keys.SWEEP)
    AUTO_FOCUS = ""
    help_place = "sweep"

    def __init__(
        self,
        sweeps: Sweeps,
        size_classes: str,
        *,
        job: Job | None = None,
        opened: SweepFile | None = None,
        path: Path,
    ) -> None:
        """`job`: what to measure, at once; or `opened`: what the file at `path` holds."""
        super().__init__(classes=f"sweep {size_classes}")
        self._sweeps = sweeps
        self._path = path
        self._job = job
        self._opened = opened
        self._under_way: RunningSweep | None = None
        self._seen: SweepFile | None = None
        self._matrix = Matrix(job.plan.points if job is not None else ())
        self._results: dict[tuple[object, ...], PointResult] = {}
        self._follows = True
        """Whether the mark goes with what is measured; until it is moved by hand."""

    def compose(self) -> ComposeResult:
        """Head, table and curves, what is to be said of the marked row, message, keys."""
        yield Lines([""], id="sweep-head")
        with Container(id="sweep-body"):
            yield SweepTable(id="sweep-table")
            with Vertical(id="sweep-curves"):
                yield Lines([""], id="sweep-net")
                yield BatchChart(id="sweep-chart")
                yield Lines(id="sweep-legend")
        yield Lines([""] * NOTE_ROWS, id="sweep-note")
        yield MessageLine(id="message")
        yield Lines([""], id="keys")

    def on_mount(self) -> None:
        """Begin, and look on."""
        if self._job is not None:
            self._under_way = self._sweeps.begin(self._job)
        self.set_interval(PULL_S, self.pull)

    def on_unmount(self) -> None:
        """Nobody looks on any more: end it."""
        if self._under_way is not None:
            self._under_way.stop(STOP_WAIT_S)

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self.call_after_refresh(self.draw)

    def pull(self) -> None:
        """Show what is new."""
        if self.is_current:
            self.draw()

    def draw(self) -> None:
        """Everything."""
        sweep = self._sweep
        if sweep is not None and sweep is not self._seen:
            self._take(sweep)
        results = self._results
        table = self.query_one("#sweep-table", SweepTable)
        now = None if self._under_way is None else self._under_way.point
        table.draw_table(self._matrix, results, now)
        if self._follows and now is not None:
            table.mark(now)
        row, column = table.marked, table.marked_column
        curves = [] if row is None or sweep is None else self._matrix.curves(row.net, results, sweep.fits)
        self.query_one("#sweep-chart", BatchChart).draw_curves(curves)
        self._draw_legend(curves, "" if row is None else row.net)
        point = None if row is None or column is None else row.points.get(column)
        result = None if point is None else results.get(point.key)
        self._note([] if result is None else about_point(result, curves))
        self.query_one("#sweep-head", Lines).show([self._head(sweep)])
        self.query_one("#keys", Lines).show([heading.keys_line(self._keys(), self.size.width)])
        error = None if self._under_way is None else self._under_way.error
        self.query_one("#message", MessageLine).stand(error or "")
        self.drawn()

    # ------------------------------------------------------------------ actions

    def action_move(self, by: int) -> None:
        """Mark another row."""
        self._follows = False
        self.query_one("#sweep-table", SweepTable).move(by)
        self.draw()

    def action_across(self, by: int) -> None:
        """Mark another column."""
        self._follows = False
        self.query_one("#sweep-table", SweepTable).move(0, by)
        self.draw()

    def action_turn(self) -> None:
        """Stop it, or go on."""
        if self._runs and self._under_way is not None:
            self._under_way.stop()
            told = "stopping: the point under way is given up, the file is whole"
            self.say(told, "", holds=lambda: self._runs)
        else:
            self._go_on(retry_failed=False)

    def action_retry(self) -> None:
        """Measure again what has no figures."""
        if self._runs:
            self.say("the sweep runs: s stops it")
        else:
            self._go_on(retry_failed=True)

    def action_back(self, sure: bool = False) -> None:
        """Leave it; where it runs, at the second press."""
        question = f"esc again within {SURE_S:.0f} s stops this sweep; s goes on with it later"
        if sure or not self._runs or self.pressed_again("back", question, SURE_S):
            self.app.pop_screen()

    def _go_on(self, *, retry_failed: bool) -> None:
        sweep = self._sweep
        if sweep is not None and sweep.complete and not retry_failed:
            self.say("all of it is measured; f measures again what failed")
            return
        if retry_failed and sweep is not None and all(each.outcome == "ok" for each in sweep.points):
            self.say("every point that was measured has its figures")
            return
        try:
            job = resumed_job(self._path, retry_failed=retry_failed) if self._path.exists() else self._job
        except JobError as error:
            self.say(str(error))
            return
        if job is None:
            self.say(f"{self._path} is gone: there is nothing to go on from")
            return
        self._under_way = self._sweeps.begin(job)
        self.draw()

    # -------------------------------------------------------------------- state

    @property
    def _runs(self) -> bool:
        return self._under_way is not None and self._under_way.state in ("starting", "running")

    @property
    def _sweep(self) -> SweepFile | None:
        """What is known of it."""
        now = None if self._under_way is None else self._under_way.sweep
        return now or self._opened

    def _take(self, sweep: SweepFile) -> None:
        """Take in what is in the file by now."""
        before, self._seen = self._seen, sweep
        self._results = {result.key: result for result in sweep.points}
        plan = sweep.plan
        if plan is None:
            points = [Point(preset=each.preset, settings=each.settings) for each in sweep.points]
            self._matrix = Matrix(points, sweep.devices)
        elif before is None or plan is not before.plan:
            self._matrix = Matrix(plan.points, sweep.devices)

    # -------------------------------------------------------------------- texts

    def _draw_legend(self, curves: Sequence[Curve], net: str) -> None:
        legend = self.query_one("#sweep-legend", Lines)
        self.query_one("#sweep-net", Lines).show([[(f"{net}: ms by batch size" if net else "", "strong")]])
        if max((len(curve.points) for curve in curves), default=0) < 2:
            several = sum(row.net == net for row in self._matrix.rows) > 1
            text = "curves come with the second batch size" if several else "one batch size is no curve"
            legend.show([[(text, "dim")]] if net else [""])
        elif self.has_class("-wide"):
            legend.show([line for curve in curves for line in with_line(curve)])
        else:
            legend.show([marks(curves)])

    def _note(self, lines: Sequence[str]) -> None:
        note = self.query_one("#sweep-note", Lines)
        width = max(20, self.size.width)
        wrapped_lines = [part for line in lines for part in wrapped(line, width, NOTE_ROWS)]
        note.show([[(line, "dim")] for line in [*wrapped_lines, *[""] * NOTE_ROWS][:NOTE_ROWS]])

    def _head(self, sweep: SweepFile | None) -> Line:
        state = self._state(sweep)
        room = self.size.width - width_of(state) - 2 - len("sweep   ")
        left: list[Run] = [("sweep ", "strong"), (shorten(self._path.stem, room), "dim")]
        return heading.spread(left, state, self.size.width)

    def _state(self, sweep: SweepFile | None) -> list[Run]:
        """How far it is."""
        running = self._under_way
        progress = None if running is None else running.progress
        if self._runs and progress is not None:
            rounds = f"  round {progress.round} of {progress.rounds}" if progress.rounds > 1 else ""
            left_s = progress.left_s
            left = "" if not left_s else f"  about {format.lasting(max(1.0, left_s))} left"
            return [(f"{progress.done}/{progress.of}", "strong"), (f"{rounds}{left}", "dim")]
        if self._runs:
            return [("starting", "dim")]
        if sweep is None:
            return [("not begun", "dim")]
        if sweep.complete:
            return [("complete", "strong"), (f"  {len(sweep.points)} points", "dim")]
        return [("stopped", "warning"), (f"  {len(sweep.points)} of {sweep.planned} points", "dim")]

    def _keys(self) -> list[tuple[str, str]]:
        sweep = self._sweep
        words = {}
        if not self._runs:
            words["sweep_turn"] = "" if sweep is not None and sweep.complete else "go on"
            if sweep is not None and any(each.outcome != "ok" for each in sweep.points):
                words["sweep_retry"] = "retry failed"
        shown = [action for action in keys.SWEEP if words.get(action.id) != ""]
        return [*keys.line(shown[:-2], words), *keys.line([keys.by_id("help"), *shown[-2:]])]


def size_classes(screen: Screen[None]) -> str:
    """The classes that the terminal's size gave to a screen, for the one that comes upon it."""
    app = screen.app
    every = [name for _, name in (*(app.HORIZONTAL_BREAKPOINTS or ()), *(app.VERTICAL_BREAKPOINTS or ()))]
    return " ".join(name for name in every if screen.has_class(name))
