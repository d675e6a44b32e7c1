"""The step loop: trains until told otherwise, takes commands between steps, reports now and then."""

from __future__ import annotations

import math
import time

from ..protocol import (
    Changed,
    ChangeSetting,
    Command,
    Finished,
    Pause,
    Paused,
    Resume,
    Resumed,
    Said,
    Start,
    Started,
    Stop,
)
from ..settings import Value
from . import changes
from .data import Dataset
from .devices import synchronize
from .execution import precision
from .link import Link
from .reports import Window, finite
from .trainer import Trainer
from .validation import ValidationPass

_NEVER = 1 << 62


class StepLoop:
    """Runs one session's training from `Start` to its end."""

    def __init__(self, start: Start, dataset: Dataset, link: Link) -> None:
        self._start = start
        self._link = link
        self._trainer = Trainer(start.preset, dataset, start.settings, start.seed)
        self._window = Window(self._trainer)
        self._validation: ValidationPass | None = None
        self._scheduled = sorted(start.scheduled, key=lambda change: change.step)
        self._step = 0
        self._samples = 0
        self._loss_first: float | None = None
        self._warned_of_loss = False
        self._stopped = False
        self._time_limit = math.inf

    def run(self) -> None:
        """Train to the end and say so.

        Raises:
            WorkerBrokenError: a change failed and so did the way back.
            RuntimeError: a step failed.
        """
        self._say_started()
        began = time.monotonic()
        trainer, commands = self._trainer, self._link.commands
        order = trainer.order
        if self._start.seconds is not None:
            self._time_limit = began + self._start.seconds
        next_report = began + self._start.report_every_s
        trainer.clock.go_on()
        look_up_at = 0
        while True:
            if commands:
                self._take_commands()
                look_up_at = self._step
            if self._step >= look_up_at:
                if self._ended() or time.monotonic() >= self._time_limit:
                    break
                look_up_at = self._make_scheduled()
                if self._ended():
                    break
            if self._validation is not None or order.exhausted:
                self._between_epochs()
                if self._ended():
                    break
                continue
            self._count(trainer.step())
            now = time.monotonic()
            if now >= next_report:
                self._report()
                next_report = max(next_report + self._start.report_every_s, now)
                if now >= self._time_limit:
                    break
        self._finish()

    def close(self) -> None:
        """Let go of what training runs beside itself: Python's exit waits for processes and threads."""
        self._trainer.close()

    def _count(self, samples: int) -> None:
        self._step += 1
        self._samples += samples
        self._window.steps += 1
        self._window.samples += samples
        if self._loss_first is None:
            self._loss_first = self._read_loss()

    def _read_loss(self) -> float | None:
        loss = self._trainer.loss
        return None if loss is None else loss.item()

    def _ended(self) -> bool:
        steps, epochs = self._start.steps, self._start.epochs
        if self._stopped or (steps is not None and self._step >= steps):
            return True
        # The last epoch ends with its validation.
        return epochs is not None and self._trainer.order.epochs >= epochs and self._validation is None

    def _make_scheduled(self) -> int:
        """Make the changes due before the next step; the step at which to look again."""
        while self._scheduled and self._scheduled[0].step <= self._step and not self._ended():
            if self._validation is not None or self._trainer.order.exhausted:
                break  # The epoch comes to its end first.
            due = self._scheduled.pop(0)
            self._change(due.setting, due.to, time.monotonic())
        next_change = self._scheduled[0].step if self._scheduled else _NEVER
        return min(next_change, _NEVER if self._start.steps is None else self._start.steps)

    def _take_commands(self) -> None:
        while self._link.commands:
            command = self._link.next_command()
            if isinstance(command, Pause):
                self._pause()
            elif command is not None:
                self._obey(command)

    def _obey(self, command: Command) -> None:
        if isinstance(command, ChangeSetting):
            self._change(command.setting, command.to, command.asked_at)
        elif isinstance(command, Stop):
            self._stopped = True

    def _pause(self) -> None:
        synchronize(self._trainer.device)
        self._report()
        self._link.send(Paused(at=time.monotonic(), step=self._step))
        while not self._stopped:
            command = self._link.next_command()
            if isinstance(command, Resume):
                break
            if command is not None:
                self._obey(command)
        if not self._stopped:
            self._link.send(Resumed(at=time.monotonic()))
            self._go_on_unsettled()

    def _change(self, setting: str, to: Value, asked_at: float) -> None:
        trainer = self._trainer
        if self._window.steps:
            self._report()
        before, flags_before = trainer.settings, precision.flags()
        epochs = trainer.order.epochs
        wanted = before.with_value(setting, to)
        if trainer.compiles(wanted) and changes.refusal(trainer, wanted) is None:
            self._say_it_compiles()
        outcome = changes.make(trainer, setting, to)
        first_step = self._step
        if outcome.error is None:
            self._step += 1
            self._samples += outcome.samples
            if trainer.order.epochs > epochs:
                self._begin_validation()
            if before.model_size != trainer.settings.model_size:
                self._validation = None
        flags_now = precision.flags()
        self._link.send(
            Changed(
                asked_at=asked_at,
                done_at=time.monotonic(),
                step=first_step,
                setting=setting,
                from_=before.value(setting),
                to=to,
                ok=outcome.error is None,
                error=outcome.error,
                settings=trainer.settings,
                preparation_ms=outcome.preparation_ms,
                flags=flags_now if flags_now != flags_before else None,
            )
        )
        self._tell_preparation(outcome.preparation_ms)
        self._go_on_unsettled()

    def _go_on_unsettled(self) -> None:
        self._window.unsettle()
        self._trainer.clock.go_on()

    def _between_epochs(self) -> None:
        """An epoch is over: one batch of its validation, or the beginning of the next."""
        trainer = self._trainer
        if self._validation is None:
            trainer.begin_epoch()
            self._begin_validation()
        if self._validation is not None:
            result = self._validation.advance(trainer)
            if result is not None:
                self._window.validation = result
                self._validation = None
        trainer.clock.go_on()

    def _begin_validation(self) -> None:
        trainer = self._trainer
        if trainer.dataset.validation is not None:
            self._validation = ValidationPass(trainer.dataset.validation, trainer.order.epochs)

    def _report(self) -> None:
        if not self._window.steps and self._window.validation is None:
            return
        preparation_ms = self._trainer.preparation_ms()
        if preparation_ms is not None:
            synchronize(self._trainer.device)  # The clock knows of all those steps, and forgets them.
        self._link.send(self._window.progress(self._step, self._samples, timed=preparation_ms is None))
        if preparation_ms is not None:
            self._tell_preparation(preparation_ms)
            self._go_on_unsettled()
        loss = self._window.loss
        if loss is not None and finite(loss) is None and not self._warned_of_loss:
            self._warned_of_loss = True
            text = f"the loss is no longer a number (step {self._step:,}): training has diverged"
            if (file := self._start.preset.read_from) is not None:
                text += f"; optimizer.lr in {file} may be too large"
            self._link.send(Said(at=time.monotonic(), level="warning", text=text))

    def _say_started(self) -> None:
        dataset = self._trainer.dataset
        validation = dataset.validation
        self._link.send(
            Started(
                at=time.monotonic(),
                settings=self._trainer.settings,
                data=dataset.description,
                synthetic=dataset.synthetic,
                parameters=self._trainer.parameters,
                training_samples=len(dataset.training),
                validation_samples=0 if validation is None else len(validation),
                flags=precision.flags(),
            )
        )
        if self._trainer.settings.execution == "compiled":
            self._say_it_compiles()

    def _say_it_compiles(self) -> None:
        text = "compiling the step: the first time on a machine this may take a minute"
        self._link.send(Said(at=time.monotonic(), level="info", text=text))

    def _tell_preparation(self, preparation_ms: float | None) -> None:
        """Say that the step was compiled or captured, and let the time limit not count it."""
        if preparation_ms is None:
            return
        self._time_limit += preparation_ms / 1e3
        text = f"{self._trainer.prepared} in {preparation_ms / 1e3:.2f} s, which no rate counts"
        self._link.send(Said(at=time.monotonic(), level="info", text=text))

    def _finish(self) -> None:
        synchronize(self._trainer.device)
        self._report()
        self._link.send(
            Finished(
                at=time.monotonic(),
                step=self._step,
                epoch=self._trainer.order.epochs,
                samples=self._samples,
                loss_first=finite(self._loss_first),
                loss_last=finite(self._read_loss()),
                stopped=self._stopped,
            )
        )
