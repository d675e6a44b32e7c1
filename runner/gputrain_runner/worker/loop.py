"""The step loop: trains until told otherwise, takes commands between steps, reports now and then."""

from __future__ import annotations

import time

from msgspec import structs

from ..protocol import (
    ChangeSetting,
    Command,
    Finished,
    Pause,
    Paused,
    Probe,
    Progress,
    Resume,
    Resumed,
    Said,
    Start,
    Stop,
)
from ..settings import RULES, Value, without_effect
from . import changes, changes_together, probe
from .burst import Bursts
from .data import Dataset
from .devices import synchronize
from .execution import precision
from .limits import Limits
from .link import Link
from .reports import Window, finite, started
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
        self._bursts = Bursts(self._trainer, start.profile_every_s, self._warn)
        self._validation: ValidationPass | None = None
        self._scheduled = sorted(start.scheduled, key=lambda change: change.step)
        self._step = 0
        self._samples = 0
        self._loss_first: float | None = None
        self._warned_of_loss = False
        self._stopped = False
        self._limits = Limits(start)

    def run(self) -> None:
        """Train to the end and say so.

        Raises:
            WorkerBrokenError: a change failed and so did the way back.
            RuntimeError: a step failed.
        """
        self._bursts.begin_anew()
        self._say_started()
        trainer, commands, bursts = self._trainer, self._link.commands, self._bursts
        order = trainer.order
        look_up_at, next_report = 0, self._limits.begin() + self._start.report_every_s
        trainer.clock.go_on()
        while True:
            if commands:
                bursts.give_up()
                self._take_commands()
                look_up_at = self._step
            if self._step >= look_up_at:
                if self._ended() or self._limits.time_is_up():
                    break
                look_up_at = self._make_scheduled()
                if self._ended():
                    break
            if self._validation is not None or order.exhausted:
                self._between_epochs()
                if self._ended():
                    break
                continue
            if bursts.under_way:
                self._count(bursts.step(), in_rates=False)
            else:
                self._count(trainer.step())
            now = time.monotonic()
            if now >= next_report:
                bursts.consider(self._report())
                next_report = max(next_report + self._start.report_every_s, now)
                if self._limits.time_is_up():
                    break
        self._finish()

    def close(self) -> None:
        """Let go of what training runs beside itself: Python's exit waits for processes and threads."""
        self._trainer.close()

    def _count(self, samples: int, in_rates: bool = True) -> None:
        self._step += 1
        self._samples += samples
        if in_rates:
            self._window.steps += 1
            self._window.samples += samples
        if self._loss_first is None:
            self._loss_first = self._read_loss()

    def _read_loss(self) -> float | None:
        loss = self._trainer.loss
        return None if loss is None else loss.item()

    def _ended(self) -> bool:
        if self._stopped:
            return True
        # The last epoch ends with its validation, also where the last step is its last.
        return self._validation is None and self._limits.reached(self._step, self._trainer.order)

    def _make_scheduled(self) -> int:
        """Make the changes due before the next step, all at once; the step at which to look again."""
        while self._scheduled and self._scheduled[0].step <= self._step and not self._ended():
            if self._validation is not None or self._trainer.order.exhausted:
                break  # The epoch comes to its end first.
            due: dict[str, Value] = {}
            while self._scheduled and self._scheduled[0].step <= self._step:
                change = self._scheduled.pop(0)
                due[change.setting] = change.to
            self._change({name: to for name, to in due.items() if not self._in_force(name, to)})
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
            self._change({command.setting: command.to}, command.asked_at)
        elif isinstance(command, Probe):
            self._probe(command)
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

    def _probe(self, command: Probe) -> None:
        """Measure the ceilings while no step runs; what that takes is in no rate and no time limit."""
        synchronize(self._trainer.device)
        self._report()
        began = time.monotonic()
        probe.answer(command, self._link)
        self._limits.leave_out(time.monotonic() - began)
        self._go_on_unsettled()

    def _in_force(self, setting: str, value: Value) -> bool:
        """Whether a scheduled change alters nothing, which is then said."""
        if self._trainer.settings.value(setting) != value:
            return False
        self._say(f"step {self._step:,}: {RULES[setting].label} is {value} already, nothing to change")
        return True

    def _change(self, asked: dict[str, Value], asked_at: float | None = None) -> None:
        """Change settings before the next step, and run it; `asked_at`: now, where nobody asked."""
        if not asked:
            return
        asked_at = time.monotonic() if asked_at is None else asked_at
        trainer = self._trainer
        self._bursts.give_up()
        if self._window.steps:
            self._report()
        before, flags_before, first_step = trainer.settings, precision.flags(), self._step
        epochs = trainer.order.epochs
        wanted = structs.replace(before, **asked)
        if trainer.compiles(wanted) and changes.refusal(trainer, wanted) is None:
            self._say_it_compiles()
        outcome = changes_together.make(trainer, asked)
        if outcome.samples:
            self._step += 1
            self._samples += outcome.samples
            if trainer.order.epochs > epochs:
                self._begin_validation()
            if before.model_size != trainer.settings.model_size:
                self._validation = None
        flags = precision.flags()
        altered = flags if flags != flags_before else None
        for answer in outcome.answers(asked, asked_at, first_step, before, trainer.settings, altered):
            self._link.send(answer)
            idle = without_effect(answer.setting, trainer.settings) if answer.ok else None
            if idle is not None:
                self._say(f"{RULES[answer.setting].label} {answer.to} alters nothing now: {idle}")
        self._tell_preparation(outcome.preparation_ms)
        self._go_on_unsettled()

    def _go_on_unsettled(self) -> None:
        self._window.unsettle()
        self._bursts.begin_anew()
        self._trainer.clock.go_on()

    def _between_epochs(self) -> None:
        """An epoch is over: one batch of its validation, or the beginning of the next."""
        trainer = self._trainer
        self._bursts.give_up()
        if self._validation is None:
            trainer.clock.hold()
            trainer.begin_epoch()
            self._begin_validation()
        if self._validation is not None:
            result = self._validation.advance(trainer)
            if result is not None:
                self._window.validation = result
                self._validation = None
        trainer.clock.go_on()
        if self._validation is None:
            self._bursts.begin_epoch()

    def _begin_validation(self) -> None:
        trainer = self._trainer
        if trainer.dataset.validation is not None:
            trainer.clock.catch_up()
            self._validation = ValidationPass(trainer.dataset.validation, trainer.order.epochs)

    def _report(self, last: bool = False) -> Progress | None:
        """Report on the window; None where nothing was in it."""
        bursts = self._bursts
        if not self._window.steps and self._window.validation is None and not (last and bursts.profile):
            return None
        preparation_ms = self._trainer.preparation_ms()
        if preparation_ms is not None:
            synchronize(self._trainer.device)  # The clock knows of all those steps, and forgets them.
        progress = self._window.progress(self._step, self._samples, timed=preparation_ms is None)
        trained_s = self._limits.trained_s(progress.at) - (preparation_ms or 0.0) / 1e3
        progress = structs.replace(
            progress, trained_s=trained_s, busy=bursts.busy, profile=bursts.take_profile()
        )
        self._link.send(progress)
        if preparation_ms is not None:
            self._tell_preparation(preparation_ms)
            self._go_on_unsettled()
        loss = self._window.loss
        if loss is not None and finite(loss) is None and not self._warned_of_loss:
            self._warned_of_loss = True
            text = f"the loss is no longer a number (step {self._step:,}): training has diverged"
            if (file := self._start.preset.read_from) is not None:
                text += f"; optimizer.lr in {file} may be too large"
            self._warn(text)
        return progress

    def _say_started(self) -> None:
        self._link.send(started(self._trainer))
        if self._trainer.settings.execution == "compiled":
            self._say_it_compiles()

    def _say_it_compiles(self) -> None:
        self._say("compiling the step: the first time on a machine this may take a minute")

    def _tell_preparation(self, preparation_ms: float | None) -> None:
        """Say that the step was compiled or captured, and let the time limit not count it."""
        if preparation_ms is not None:
            self._limits.leave_out(preparation_ms / 1e3)
            took = f"{preparation_ms / 1e3:.2f} s"
            self._say(f"{self._trainer.prepared} in {took}, which no rate counts")

    def _say(self, text: str) -> None:
        self._link.send(Said(at=time.monotonic(), level="info", text=text))

    def _warn(self, text: str) -> None:
        self._link.send(Said(at=time.monotonic(), level="warning", text=text))

    def _finish(self) -> None:
        self._bursts.give_up()
        synchronize(self._trainer.device)
        self._report(last=True)
        self._link.send(
            Finished(
                at=time.monotonic(),
                step=self._step,
                epoch=self._trainer.order.epochs_done,
                samples=self._samples,
                loss_first=finite(self._loss_first),
                loss_last=finite(self._read_loss()),
                stopped=self._stopped,
            )
        )
