"""How a sweep without a screen shows where it is: a bar on a terminal, a line for each point."""

from __future__ import annotations

import os
from typing import Any, Protocol, TextIO

from gputrain_runner.sweep import Point, PointResult, Progress

from .. import format, sweep_text
from .progress import Forgiving


class SweepProgress(Protocol):
    """Where the lines of a sweep and its progress go."""

    def line(self, text: str) -> None:
        """A line that stays."""

    def begins(self, point: Point, progress: Progress) -> None:
        """This point is measured next."""

    def measured(self, result: PointResult, progress: Progress) -> None:
        """This came of it."""

    def close(self) -> None:
        """The sweep is over; more than once is no error."""


class PlainLines:
    """A line for each point, with how far the sweep is."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def line(self, text: str) -> None:
        """A line that stays."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def begins(self, point: Point, progress: Progress) -> None:
        """Nothing: what comes of it is told."""

    def measured(self, result: PointResult, progress: Progress) -> None:
        """Its line."""
        self.line(f"[{place(progress)}] {outcome(result)}{about(progress.left_s)}")

    def close(self) -> None:
        """Nothing is left open."""


class Bar:
    """On a terminal: the point under way and the time left in the last line, results above it."""

    def __init__(self, stream: Any) -> None:
        from .bar import progress_bar

        self._bar = progress_bar(stream)
        self._task = self._bar.add_task("", total=None, facts="starting")
        self._open = True
        self._bar.start()
        self._bar.refresh()

    def line(self, text: str) -> None:
        """A line above the bar."""
        self._bar.console.print(text, soft_wrap=True)

    def begins(self, point: Point, progress: Progress) -> None:
        """Name it in the bar."""
        self._show(sweep_text.label(point), progress)

    def measured(self, result: PointResult, progress: Progress) -> None:
        """Its line above the bar."""
        self.line(outcome(result))
        self._show("", progress)

    def close(self) -> None:
        """Leave the bar where it is."""
        if self._open:
            self._open = False
            self._bar.stop()

    def _show(self, what: str, progress: Progress) -> None:
        self._bar.update(
            self._task,
            total=progress.of,
            completed=progress.done,
            description=what,
            facts=f"{place(progress)}{about(progress.left_s)}",
        )
        self._bar.refresh()


def progress_for(stream: TextIO) -> SweepProgress:
    """What suits the stream; one that fails stops nothing."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return Bar(Forgiving(stream))
    return PlainLines(Forgiving(stream))


def place(progress: Progress) -> str:
    """`3/24`, and the round where there are several."""
    rounds = f", round {progress.round} of {progress.rounds}" if progress.rounds > 1 else ""
    return f"{progress.done}/{progress.of}{rounds}"


def about(left_s: float | None) -> str:
    """About how long the rest takes; nothing where it is not known or over."""
    return f"  about {format.lasting(max(1.0, left_s))} left" if left_s else ""


def outcome(result: PointResult) -> str:
    """A point and what came of it."""
    if result.ms is None:
        return f"{sweep_text.label(result)}: {sweep_text.MISSING[result.outcome]}: {result.error}"
    return f"{sweep_text.label(result)}: {result.ms.median:.4g} ms{' noisy' if result.noisy else ''}"
