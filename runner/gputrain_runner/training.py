"""The training as the worker's reports tell it: its state, settings and counts, and what goes on record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import structs

from . import samples
from .book import Book
from .feed import State
from .live_probe import LiveProbe
from .machine_watch import MachineWatch
from .options import AUTO, SessionOptions, first_on_devices, resolve_scheduled
from .protocol import (
    Changed,
    Failed,
    Finished,
    Hello,
    Paused,
    Probed,
    Progress,
    Report,
    Resumed,
    Said,
    Start,
    Started,
)
from .settings import Context, SettingError, Settings, Value
from .telemetry.reading import Reading
from .timeline import Change, Flags
from .undo import AskedChange, ChangeLog


class Training:
    """What the training does, over all the workers of a session. Its session guards it with a lock.

    Args:
        options: what it is to do.
        settings: those it starts with; their device may be AUTO.
        device_asked: the device that was asked for; None for the best.
        book: where everything is entered.
        began: when the session began, on the clock of the reports (`time.monotonic`).
        latest: the telemetry's last known values.
    """

    def __init__(
        self,
        options: SessionOptions,
        settings: Settings,
        device_asked: str | None,
        book: Book,
        began: float,
        latest: Callable[[], Reading],
    ) -> None:
        self.state: State = "starting"
        self.reason: str | None = None
        self.usage_error = False
        """Whether it died of what the command line or a file says."""
        self.settings = settings
        self.started = False
        """Whether this worker was told to start."""
        self.changes = ChangeLog()
        self.probes = LiveProbe(book)
        self._options = options
        self._device_asked = device_asked
        self._book = book
        self._began = began
        self._machine = MachineWatch(book, latest)
        self._first_worker = True
        self._loaded_samples: int | None = None
        self._own_threads: int | None = None
        self._cuda_absence: str | None = None
        self._flags: Flags | None = None
        self._handlers: dict[type[Report], Callable[[Any], None]] = {
            Started: self._take_started,
            Progress: self._take_progress,
            Changed: self._take_changed,
            Paused: self._take_paused,
            Resumed: self._take_resumed,
            Said: self._take_said,
            Probed: self._take_probed,
            Finished: self._take_finished,
            Failed: self._take_failed,
        }

    @property
    def context(self) -> Context:
        """What the allowed values of the settings depend on."""
        devices = [device.device for device in self._book.header.devices]
        return Context(
            self._options.preset,
            devices,
            loaded_samples=self._loaded_samples,
            cuda_absence=self._cuda_absence,
        )

    def take(self, report: Report) -> None:
        """Take in what the worker reports; `Hello` is for `begin`."""
        handler = self._handlers.get(type(report))
        if handler is not None and self.state not in ("finished", "died"):
            handler(report)

    def begin(self, hello: Hello) -> Start | None:
        """PyTorch is loaded: what to start the training with; None where it cannot start or has."""
        if self.started or self.state != "starting":
            return None
        header = self._book.header
        self._own_threads = hello.threads
        self._cuda_absence = hello.cuda_absence
        host = structs.replace(header.host, torch=hello.torch, cuda=hello.cuda, cudnn=hello.cudnn)
        self._book.revise(structs.replace(header, host=host, devices=hello.devices))
        self.probes.begin(hello.devices)
        try:
            start = self._start()
        except SettingError as error:
            self.die(str(error), usage=True)
            return None
        self.settings = start.settings
        self.started = True
        self._revise_start()
        return start

    def set_before_start(self, setting: str, value: Value) -> None:
        """Change what the worker will start with; with a later worker, that is a change like others."""
        before, self.settings = self.settings, self.settings.with_value(setting, value)
        if setting == "device":
            self._device_asked = str(value)
        if self._first_worker:
            self._revise_start()
            return
        from_, t, step = before.value(setting), self._book.elapsed_s(), self._book.totals.step
        self.changes.made(AskedChange(setting, from_, value))
        self._book.add(Change(t=t, step=step, setting=setting, from_=from_, to=value, ok=True))

    def begin_again(self) -> None:
        """A new worker takes the place of the one there is."""
        self._book.settle_effects()
        self._book.totals.begin_worker()
        self.changes.lost()
        self.probes.lost()
        self.state, self.reason, self.usage_error = "starting", None, False
        self.started = self._first_worker = False
        if self.settings.device != AUTO:
            self._device_asked = self.settings.device

    def die(self, reason: str, usage: bool = False) -> None:
        """It cannot go on, for a reason in one line."""
        if self.state in ("finished", "died"):
            return
        self._book.settle_effects()
        self.changes.lost()
        self.probes.lost()
        self.state, self.reason, self.usage_error = "died", reason, usage
        self._book.say("error", reason)

    def end(self) -> None:
        """It is over by the user's will; what has died stays so."""
        self._book.settle_effects()
        if self.state != "died":
            self.state = "finished"

    def exited(self, description: str | None) -> None:
        """The worker's process has ended, in words; None for exit code 0."""
        self.die(f"worker {description or 'ended without a word'}")

    def add_idle_sample(self) -> None:
        """Enter a sample of host and GPUs alone: there was no report of steps for a while."""
        totals, t = self._book.totals, self._book.elapsed_s()
        gpus, host = self._machine.look(t)
        self.probes.look_up()
        self._book.add(samples.without_steps(t, totals.step, totals.epoch, self.settings, gpus, host))

    def _start(self) -> Start:
        options, done = self._options, self._book.totals
        devices, asked = self._book.header.devices, self._device_asked
        chosen, warnings = first_on_devices(self.settings, asked, devices, self.context, options.falls_back)
        for warning in warnings:
            self._book.say("warning", warning)
        return Start(
            preset=options.preset,
            settings=self._with_threads(chosen),
            seed=options.seed,
            report_every_s=options.report_every_s,
            profile_every_s=options.profile_every_s,
            steps=None if options.steps is None else max(1, options.steps - done.step),
            epochs=None if options.epochs is None else max(1, options.epochs - done.epoch),
            seconds=options.seconds,  # Counts from a worker's first step.
            scheduled=resolve_scheduled(options.scheduled, self.context, done.step),
        )

    def _with_threads(self, chosen: Settings) -> Settings:
        """Where no number of threads was asked for, the one PyTorch uses by itself."""
        return chosen if chosen.threads is not None else chosen.with_value("threads", self._own_threads)

    def _revise_start(self) -> None:
        """The header tells the settings that the session, not a later worker, began with."""
        if self._first_worker:
            header = self._book.header
            session = structs.replace(header.session, settings=self.settings)
            self._book.revise(structs.replace(header, session=session))

    def _take_started(self, started: Started) -> None:
        self.state = "running"
        self.settings = started.settings
        self._loaded_samples = started.training_samples
        self._revise_start()
        header = self._book.header
        session = structs.replace(header.session, data=started.data)
        if self._first_worker:
            session = structs.replace(session, parameters=started.parameters)
        if self._first_worker:
            session = structs.replace(session, flags=started.flags)
        self._book.revise(structs.replace(header, session=session))
        if not self._first_worker and started.flags is not None and started.flags != self._flags:
            switches = ", ".join(f"{name} {value}" for name, value in started.flags.items())
            self._book.say("info", f"PyTorch's switches in this worker: {switches}", self._t(started.at))
        self._flags = started.flags

    def _take_progress(self, progress: Progress) -> None:
        totals = self._book.totals
        totals.progress(progress)
        t = self._t(progress.at)
        gpus, host = self._machine.look(t)
        self.probes.look_up()
        self._book.add(samples.of_steps(progress, t, totals.step, totals.epoch, gpus, host))

    def _take_changed(self, changed: Changed) -> None:
        before, self.settings = self.settings, changed.settings
        self._flags = changed.flags or self._flags
        self.changes.answered(changed)
        self._book.add(
            Change(
                t=self._t(changed.asked_at),
                step=self._book.totals.reach(changed.step),
                setting=changed.setting,
                from_=changed.from_,
                to=changed.to,
                ok=changed.ok,
                error=changed.error,
                applied_in_ms=(changed.done_at - changed.asked_at) * 1e3,
                preparation_ms=changed.preparation_ms,
                flags=changed.flags,
            )
        )
        if changed.ok and before.model_size != changed.settings.model_size:
            sizes = f"{before.model_size} → {changed.settings.model_size}"
            text = f"model size {sizes}: a new model, the loss starts over"
            self._book.say("info", text, self._t(changed.done_at))

    def _take_paused(self, paused: Paused) -> None:
        if self.state != "paused":
            self.state = "paused"
            step = self._book.totals.reach(paused.step)
            self._book.say("info", f"paused at step {step:,}", self._t(paused.at))

    def _take_resumed(self, resumed: Resumed) -> None:
        if self.state == "paused":
            self.state = "running"
            self._book.say("info", "going on", self._t(resumed.at))

    def _take_said(self, said: Said) -> None:
        self._book.say(said.level, said.text, self._t(said.at))

    def _take_probed(self, probed: Probed) -> None:
        self.probes.take(probed, self._t(probed.at))

    def _take_finished(self, finished: Finished) -> None:
        self._book.totals.finished(finished)
        self.state = "finished"

    def _take_failed(self, failed: Failed) -> None:
        self.die(failed.error, usage=failed.usage)

    def _t(self, at: float) -> float:
        """Seconds since the session began; what a worker said while it was kept ready counts as then."""
        return max(0.0, at - self._began)
