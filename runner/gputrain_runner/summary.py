"""What a session has done so far, over all its workers, and its summary."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Literal

from .protocol import Finished, Progress
from .settings import Settings
from .timeline import Change, Effect, Entry, FinalValidation, Sample, Summary, Validation

Ended = Literal["finished", "interrupted", "failed"]


class Totals:
    """Counts that go on where a new worker begins again at 0."""

    def __init__(self) -> None:
        self.step = 0
        self.epoch = 0
        self.samples = 0
        self._base_step = 0
        self._base_epoch = 0
        self._base_samples = 0
        self._loss_first: float | None = None
        self._loss_last: float | None = None
        self._validation: Validation | None = None
        self._changes = 0
        self._effects = 0

    def begin_worker(self) -> None:
        """A new worker counts on from here."""
        self._base_step, self._base_epoch, self._base_samples = self.step, self.epoch, self.samples

    def reach(self, worker_step: int) -> int:
        """The worker has done so many steps; the session's number of them."""
        step = self._base_step + worker_step
        self.step = max(self.step, step)
        return step

    def progress(self, progress: Progress) -> None:
        """Take in the worker's counts and loss."""
        self._count(progress.step, progress.epoch, progress.samples)
        if progress.loss is not None:
            self._loss_last = progress.loss
            if self._loss_first is None:
                self._loss_first = progress.loss

    def finished(self, finished: Finished) -> None:
        """Take in the worker's last word; its first loss is the first step's own."""
        self._count(finished.step, finished.epoch, finished.samples)
        if finished.loss_last is not None:
            self._loss_last = finished.loss_last
        if self._base_step == 0 and finished.loss_first is not None:
            self._loss_first = finished.loss_first

    def note(self, entry: Entry) -> None:
        """Count an entry of the timeline."""
        if isinstance(entry, Change):
            self._changes += 1
        elif isinstance(entry, Effect):
            self._effects += 1
        elif isinstance(entry, Sample) and entry.validation is not None:
            self._validation = entry.validation

    def summary(
        self, ended: Ended, error: str | None, seconds: float, settings: Settings, held: Sequence[Entry]
    ) -> Summary:
        """The summary as of now; `settings` are the last, `held` the timeline they are looked up in."""
        validation = self._validation
        return Summary(
            ended=ended,
            error=error,
            seconds=seconds,
            steps=self.step,
            epochs=self.epoch,
            samples=self.samples,
            samples_per_s=_last_rate(settings, held),
            loss_first=self._loss_first,
            loss_last=self._loss_last,
            validation=None
            if validation is None
            else FinalValidation(loss=validation.loss, accuracy=validation.accuracy),
            changes=self._changes,
            effects=self._effects,
        )

    def _count(self, step: int, epoch: int, samples: int) -> None:
        self.reach(step)
        self.epoch = self._base_epoch + epoch
        self.samples = self._base_samples + samples


def _last_rate(settings: Settings, held: Sequence[Entry]) -> float | None:
    """The median over the steady samples at the end that have these settings."""
    rates = []
    for entry in reversed(held):
        if isinstance(entry, Sample):
            if entry.settings != settings:
                break
            if entry.steady and entry.samples_per_s is not None:
                rates.append(entry.samples_per_s)
    return statistics.median(rates) if rates else None
