"""What can be done to a live session, but for starting and ending workers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from threading import RLock

from . import settings as rules
from .feed import Refused
from .live_feed import LiveFeed
from .options import SessionOptions, canonical_device
from .paths import default_path
from .process import WorkerError
from .protocol import ChangeSetting, Command, Pause, Resume
from .recorder import RecordingError, RecordingExistsError
from .samples import TelemetrySource
from .settings import SettingError, Value
from .timeline import Summary
from .undo import AskedChange


class LiveControl(LiveFeed):
    """The feed of a live session, and what a user may do to it. Every call returns at once."""

    _options: SessionOptions
    _started_at: datetime

    def __init__(self, telemetry: TelemetrySource | None, clock: Callable[[], float]) -> None:
        super().__init__(telemetry, clock)
        self._lock = RLock()
        """Guards the book and the training; never held while waiting for a worker."""
        self._stopping = False
        self._summary: Summary | None = None
        self._asked_at = self._began

    @property
    def summary(self) -> Summary | None:
        """How it ended; None while it has not."""
        return self._summary

    def change(self, setting: str, to: Value) -> None:
        """Ask for a setting to be changed before the next step.

        Raises:
            Refused: it cannot take that value, has it already, or the training has ended.
        """
        with self._lock:
            self._refuse_when_gone()
            value = self._parse(setting, to)
            in_force = self._training.settings.value(setting)
            wanted = self._training.changes.wanted(setting, in_force)
            if wanted == value:
                label = rules.rule(setting).label
                raise Refused(
                    f"{label} is {value} already" if in_force == value else f"{label} {value} is on its way"
                )
            if self._training.started:
                self._ask(AskedChange(setting, wanted, value))
            else:
                self._training.set_before_start(setting, value)

    def undo(self) -> tuple[str, Value]:
        """Ask for the last change that worked and is not undone yet to be reversed.

        Returns:
            The setting, and the value it goes back to.

        Raises:
            Refused: there is none, or the training has ended.
        """
        with self._lock:
            self._refuse_when_gone()
            last = self._training.changes.last()
            if last is None:
                raise Refused("nothing to undo")
            self._ask(AskedChange(last.setting, last.to, last.from_), undoes=last)
            return last.setting, last.from_

    def pause(self) -> None:
        """Stop stepping.

        Raises:
            Refused: no step runs now.
        """
        with self._lock:
            self._refuse_when_gone()
            if self.state != "running":
                raise Refused("paused already" if self.state == "paused" else "training has not begun yet")
            self._send(Pause())

    def resume(self) -> None:
        """Go on stepping.

        Raises:
            Refused: it is not paused.
        """
        with self._lock:
            self._refuse_when_gone()
            if self.state != "paused":
                raise Refused("not paused")
            self._send(Resume())

    def probe(self) -> None:
        """Measure the ceilings of the device that trains, and of the CPU; training waits meanwhile.

        Raises:
            Refused: it does so already, training has not begun, or there is no worker to do it.
        """
        with self._lock:
            self._refuse_when_gone()
            if self._training.probes.under_way:
                raise Refused("the ceilings are being measured already: training waits")
            if self.state == "starting":
                raise Refused("training has not begun yet: the ceilings can be measured once it runs")
            self._measure_ceilings(self._training.settings.device)

    def start_recording(self) -> Path:
        """Write the session, from its beginning, to a new file in the default place; the file.

        Raises:
            Refused: there is a recording, it cannot be created, or the training has ended.
        """
        with self._lock:
            self._refuse_when_ended()
            if self.recording is not None:
                raise Refused(f"recording already, to {self.recording}")
            while True:
                try:
                    path = default_path(self._started_at, self._options.preset.name)
                    self._book.record(path)
                    return path
                except RecordingExistsError:
                    continue  # Another session took the name in between; the next is free.
                except RecordingError as error:
                    raise Refused(str(error)) from None

    def stop_recording(self) -> None:
        """Complete the file.

        Raises:
            Refused: nothing is recorded.
        """
        with self._lock:
            if self.recording is None:
                raise Refused("nothing is being recorded")
            summary = self._book.summary("finished", None, self.settings)
            path = self._book.complete_recording(summary)
            if path is not None:
                self._book.say("info", f"recording complete: {path}")

    def _measure_ceilings(self, device: str) -> None:
        command = self._training.probes.command(device)
        self._send(command)
        self._training.probes.asked(command)

    def _parse(self, setting: str, to: Value) -> Value:
        text = canonical_device(str(to)) if setting == "device" else str(to)
        try:
            return rules.parse(setting, text, self._training.context)
        except SettingError as error:
            raise Refused(str(error)) from None

    def _ask(self, change: AskedChange, undoes: AskedChange | None = None) -> None:
        # The moment tells one change from another in the answer, so no two may share it.
        self._asked_at = max(self._clock(), self._asked_at + 1e-6)
        self._send(ChangeSetting(setting=change.setting, to=change.to, asked_at=self._asked_at))
        self._training.changes.asked(change, self._asked_at, undoes)

    def _send(self, command: Command) -> None:
        try:
            self._worker.send(command)
        except WorkerError as error:
            raise Refused(str(error)) from None

    def _refuse_when_ended(self) -> None:
        if self._stopping or self._summary is not None:
            raise Refused("the training has ended")

    def _refuse_when_gone(self) -> None:
        self._refuse_when_ended()
        if self.state == "died":
            raise Refused("the worker has ended: press r to start it anew")
