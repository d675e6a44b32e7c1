"""How a run without a screen shows where it is: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import math
import os
import time
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

from gputrain_runner.feed import Feed
from gputrain_runner.timeline import Sample

from .. import format

NOT_FACTS = 16
"""Columns of a terminal's last line for a bar of some length, the gaps, and a `^C` that it echoes."""
PLAIN_EVERY_S = 5.0
"""Between two plain lines that tell how far the run is."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Where a run ends; all None: nowhere."""

    steps: int | None = None
    seconds: float | None = None
    epochs: int | None = None

    def done(self, progress: Position) -> float | None:
        """The share of the run that is done, 0..1; None where it has no end."""
        if self.steps is not None:
            return min(1.0, progress.step / self.steps)
        if self.seconds is not None:
            return min(1.0, progress.trained_s / self.seconds)
        if self.epochs is not None:
            return min(1.0, progress.epochs / self.epochs)
        return None


@dataclass(frozen=True, slots=True)
class Position:
    """How far a run is."""

    step: int = 0
    epochs: float = 0.0
    """Epochs done, the one under way as a fraction."""
    trained_s: float = 0.0
    samples_per_s: float | None = None
    loss: float | None = None


class Tracker:
    """Follows the samples of a run to tell how far it is.

    `drop_last`: whether the incomplete batch at an epoch's end is skipped.
    """

    def __init__(self, drop_last: bool = False) -> None:
        self._drop_last = drop_last
        self._step = self._epoch = 0
        self._in_epoch = 0
        self.position = Position()

    def take(self, sample: Sample, training_samples: int) -> None:
        """Take in one sample of a training on so many samples of data."""
        batch_size = sample.settings.batch_size
        batches = training_samples // batch_size if self._drop_last else -(-training_samples // batch_size)
        epoch_samples = max(1, batches) * batch_size
        ended = (sample.epoch - self._epoch) * epoch_samples
        # Less than nothing is left over where the batch size has changed within the epoch.
        self._in_epoch = max(0, self._in_epoch + (sample.step - self._step) * batch_size - ended)
        self._step, self._epoch = sample.step, sample.epoch
        self.position = Position(
            step=sample.step,
            epochs=sample.epoch + min(1.0, self._in_epoch / epoch_samples),
            trained_s=self.position.trained_s if sample.trained_s is None else sample.trained_s,
            samples_per_s=sample.samples_per_s or self.position.samples_per_s,
            loss=self.position.loss if sample.loss is None else sample.loss,
        )


class Progress(Protocol):
    """Where the lines of a run and its progress go."""

    def line(self, text: str) -> None:
        """A line that stays."""

    def show(self, position: Position, feed: Feed) -> None:
        """How far the run is now; called some times a second."""

    def close(self) -> None:
        """The run is over."""


class Forgiving:
    """A stream that takes everything and fails at nothing: a run outlives whoever watched it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        try:
            return self._stream.write(text)
        except (OSError, ValueError):
            return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class PlainLines:
    """Progress where there is no terminal: one line every few seconds."""

    def __init__(self, stream: TextIO, limit: Limit) -> None:
        self._stream = Forgiving(stream)
        self._limit = limit
        self._next_at = time.monotonic() + PLAIN_EVERY_S

    def line(self, text: str) -> None:
        """A line that stays."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def show(self, position: Position, feed: Feed) -> None:
        """A line, if the last one is long enough ago and there is something to tell."""
        if time.monotonic() >= self._next_at and position.step:
            self._next_at = time.monotonic() + PLAIN_EVERY_S
            self.line(f"{format.clock(feed.elapsed_s)} {facts(position, self._limit)}")

    def close(self) -> None:
        """Nothing is left open."""


class Bar:
    """Progress on a terminal: a bar in the last line, other lines above it."""

    def __init__(self, stream: TextIO, limit: Limit, name: str) -> None:
        from .bar import progress_bar

        self._limit = limit
        self._name = name
        self._progress = progress_bar(Forgiving(stream))
        self._task = self._progress.add_task(name, total=None, facts="starting")
        self._progress.start()
        self._progress.refresh()

    def line(self, text: str) -> None:
        """A line above the bar."""
        self._progress.console.print(text, soft_wrap=True)

    def show(self, position: Position, feed: Feed) -> None:
        """Draw the bar anew."""
        done = self._limit.done(position)
        room = self._progress.console.width - len(self._name) - NOT_FACTS
        words = f"{feed.state}  {format.clock(feed.elapsed_s)}"
        if position.step:
            words = fitting_facts(position, self._limit, feed.elapsed_s, room)
        self._progress.update(
            self._task, total=None if done is None else 1.0, completed=done or 0.0, facts=words
        )
        self._progress.refresh()

    def close(self) -> None:
        """Leave the bar where it is."""
        self._progress.stop()


def facts(position: Position, limit: Limit) -> str:
    """How far the run is, its rate and its loss."""
    step, epoch, rate = _place(position, limit)
    return f"{step}  {epoch}  {rate} samples/s  loss {format.loss(position.loss)}"


def fitting_facts(position: Position, limit: Limit, elapsed_s: float, width: int) -> str:
    """The same and the time, as much of it as fits into the width: what tells least goes first."""
    step, epoch, rate = _place(position, limit)
    loss, clock = f"loss {format.loss(position.loss)}", format.clock(elapsed_s)
    place = epoch if limit.epochs is not None else step
    variants = (
        (step, epoch, f"{rate} samples/s", loss, clock),
        (place, f"{rate} samples/s", loss, clock),
        (place, f"{rate}/s", loss, clock),
        (place, f"{rate}/s", loss),
        (place, f"{rate}/s"),
    )
    texts = ["  ".join(parts) for parts in variants]
    return next((text for text in texts if len(text) <= width), texts[-1])


def _place(position: Position, limit: Limit) -> tuple[str, str, str]:
    """Step (or time), epoch and rate."""
    step = f"step {position.step:,}"
    number = max(1, math.ceil(position.epochs))
    epoch = f"epoch {number}"
    if limit.steps is not None:
        step += f" of {limit.steps:,}"
    if limit.epochs is not None:
        epoch = f"epoch {min(number, limit.epochs)} of {limit.epochs}"
    if limit.seconds is not None:
        step = f"{min(position.trained_s, limit.seconds):.0f} of {limit.seconds:g} s  {step}"
    return step, epoch, format.short(position.samples_per_s)


def progress_for(stream: TextIO, limit: Limit, name: str) -> Progress:
    """What suits the stream."""
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return Bar(stream, limit, name)
    return PlainLines(stream, limit)
