"""A session: a worker from start to stop, and all that can be done to it meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event, RLock, Thread

import msgspec

from .book import Book
from .feed import Control, Refused
from .live_control import LiveControl
from .machine import host_facts
from .options import SessionOptions, first_settings
from .process import WorkerError, WorkerProcess
from .protocol import Hello, Progress, Report, Stop
from .recorder import RecordingError
from .samples import TelemetrySource
from .settings import Settings
from .summary import Ended
from .timeline import Header, SessionInfo, Summary
from .training import Training

SILENCE_S = 1.0
"""Where no sample came for so long, one of host and GPUs alone is made."""
_LAST_WORD_S = 0.15
"""How long `stop` waits for the worker's last numbers."""
_EXIT_S = 0.1
"""How long the worker may then take to exit by itself."""
_LOOK_S = 0.25


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Session(LiveControl, Control):
    """A live session. Call `start` once, and `stop` at the end, however that came.

    Everything may be called from any thread, but for the constructor and `restart`: a worker lives no
    longer than the thread that started it (see `WorkerProcess`), so that is to be the main thread.
    """

    def __init__(
        self,
        options: SessionOptions,
        worker: WorkerProcess | None = None,
        telemetry: TelemetrySource | None = None,
        *,
        spawn: Callable[[], WorkerProcess] = WorkerProcess,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        """Prepare it; the recording, where one is asked for, is created here.

        Args:
            options: what it is to do.
            worker: one started before; None starts one.
            telemetry: what is asked for host and GPUs; None leaves them unknown.
            spawn: starts a worker.
            clock: seconds, shared with the worker.
            now: the time of day.

        Raises:
            SettingError: a setting of the options that does not exist, or a value that it cannot take.
            RecordingError: the recording cannot be created.
            WorkerError: no worker can be started.
        """
        super().__init__(telemetry, clock)
        first, device_asked = first_settings(options)
        self._options = options
        self._spawn = spawn
        self._started_at = now()
        self._stop_lock = RLock()
        self._over = Event()
        self._last_word = Event()
        self._closed = Event()
        self._last_sample_at = self._began
        self._book = Book(_first_header(options, first, self._started_at), lambda: self.elapsed_s)
        self._training = Training(options, first, device_asked, self._book, self._began, self._latest)
        self._worker = worker if worker is not None else spawn()
        self._heard: WorkerProcess | None = None
        """The worker whose reports count; None while one takes another's place."""
        self._followed: frozenset[str] | None = None
        if options.record is not None:
            self._record_from_start(options.record, own_worker=worker is None)

    def start(self) -> None:
        """Hear the worker, and have it train as soon as PyTorch is loaded."""
        Thread(target=self._tick_often, name="session ticker", daemon=True).start()
        self._hear(self._worker)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until training has finished or died; whether it has."""
        return self._over.wait(timeout_s)

    def stop(self, ended: Ended = "finished") -> Summary:
        """End it within about 0.3 s: complete the recording, stop the worker. Again: the same summary.

        Args:
            ended: "finished" where the user quits, "interrupted" where a signal ends it. A session that
                has finished by itself stays so; one that has died counts as failed.
        """
        with self._stop_lock:
            if self._ask_to_stop():
                self._last_word.wait(_LAST_WORD_S)
            with self._lock:
                summary = self._end("failed" if self.state == "died" else ended)
            self._closed.set()
            self._worker.stop(grace_s=_EXIT_S if self._last_word.is_set() else 0)
            return summary

    def restart(self) -> None:
        """Start a new worker with the settings in force: the model starts over, all counts go on.

        Raises:
            Refused: the session has ended.
        """
        with self._lock:
            self._refuse_when_ended()
            self._heard = None
            self._over.clear()
            self._training.begin_again()
            self._book.say("info", "worker restarted: the model starts over")
        self._worker.stop(grace_s=0)
        try:
            self._worker = self._spawn()
        except WorkerError as error:
            with self._lock:
                self._training.die(str(error))
                self._settle()
            return
        self._hear(self._worker)

    def tick(self) -> None:
        """Make a sample of host and GPUs alone where none came for a second; called now and then."""
        with self._lock:
            now = self._clock()
            if self._summary is None and now - self._last_sample_at >= SILENCE_S:
                self._last_sample_at = now
                self._training.add_idle_sample()

    def _record_from_start(self, path: Path, own_worker: bool) -> None:
        try:
            self._book.record(path)
        except RecordingError:
            if own_worker:
                self._worker.stop(grace_s=0)
            raise

    def _tick_often(self) -> None:
        while not self._closed.wait(_LOOK_S):
            self.tick()

    def _hear(self, worker: WorkerProcess) -> None:
        with self._lock:
            self._heard = worker
        if self._telemetry is not None:
            self._telemetry.watch(worker.pid)
        worker.attach(partial(self._take, worker), partial(self._take_exit, worker))
        # Where somebody heard the worker before, its first word was told to them.
        if worker.hello is not None:
            self._take(worker, worker.hello)

    def _take(self, worker: WorkerProcess, report: Report) -> None:
        with self._lock:
            if worker is not self._heard or self._summary is not None:
                return
            if isinstance(report, Progress):
                self._last_sample_at = self._clock()
            if isinstance(report, Hello):
                self._begin(report)
            else:
                self._training.take(report)
            self._follow_gpu()
            self._settle()

    def _follow_gpu(self) -> None:
        """Have the telemetry look closest at the GPU that trains, through every change of device."""
        if self._telemetry is None or not self.header.devices:
            return
        uuid = self.training_gpu
        uuids = frozenset() if uuid is None else frozenset({uuid})
        if uuids != self._followed:
            self._followed = uuids
            self._telemetry.focus(uuids)

    def _take_exit(self, worker: WorkerProcess, description: str | None) -> None:
        with self._lock:
            if worker is self._heard and self._summary is None:
                self._training.exited(description)
                self._settle()

    def _begin(self, hello: Hello) -> None:
        start = self._training.begin(hello)
        if start is not None:
            try:
                if self._options.probe and not self._training.probes.measured:
                    self._measure_ceilings(start.settings.device)
                self._send(start)
            except Refused as refused:
                self._training.die(str(refused))

    def _settle(self) -> None:
        """Draw the consequences where the training has finished or died."""
        if self.state == "finished":
            self._last_word.set()
            if not self._stopping:
                self._end("finished")
        elif self.state == "died":
            self._last_word.set()
            self._over.set()

    def _ask_to_stop(self) -> bool:
        """Tell the worker to stop, where it trains; whether there is a last word to wait for."""
        with self._lock:
            if self._summary is not None or self._stopping or self.state not in ("running", "paused"):
                return False
            self._stopping = True
            try:
                self._send(Stop())
            except Refused:
                return False
            return True

    def _end(self, ended: Ended) -> Summary:
        """End the session, once: its last effect, its summary, its recording."""
        if self._summary is None:
            self._training.end()
            self._ended_at = self._clock()
            self._summary = self._book.summary(ended, self.reason, self.settings)
            self._book.complete_recording(self._summary)
            self._over.set()
        return self._summary


def _first_header(options: SessionOptions, first: Settings, started_at: datetime) -> Header:
    """The header as far as it is known without PyTorch."""
    return Header(
        session=SessionInfo(
            id=os.urandom(16).hex(),
            started_at=started_at.astimezone(UTC).isoformat(timespec="milliseconds"),
            preset=msgspec.to_builtins(options.preset),
            settings=first,
            # Bytes that are no text cannot be written in JSON.
            command=[word.encode("utf-8", "replace").decode() for word in options.command],
        ),
        host=host_facts(),
    )
