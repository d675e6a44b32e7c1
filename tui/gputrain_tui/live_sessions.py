"""The real sessions: the worker that waits, the telemetry, and the session that runs.

Workers are started here, from the main thread alone: a worker lives as long as the thread that started it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import structs

from gputrain_presets import Preset
from gputrain_runner.process import WorkerError, WorkerProcess

from .sessions import AppOptions, SessionError

if TYPE_CHECKING:
    from pathlib import Path

    from gputrain_runner.options import SessionOptions
    from gputrain_runner.samples import TelemetrySource
    from gputrain_runner.session import Session
    from gputrain_runner.summary import Ended
    from gputrain_runner.telemetry import Telemetry
    from gputrain_runner.timeline import Device, Host

# What the first screen does not need is imported where it is used: it is to be up in a moment.

LAST_WAIT_S = 1.5
"""How long leaving waits for sessions that are still being ended."""


class LiveSessions:
    """Keeps one worker waiting while nothing trains, so that PyTorch is loaded by the time it is needed."""

    def __init__(self, options: AppOptions) -> None:
        """Start the first worker; WorkerError where that cannot be."""
        self._options = options
        self._record = options.record
        self._first_frame_was = False
        # For a recording none is needed; one is started when a preset is picked after it.
        self._idle: WorkerProcess | None = WorkerProcess() if options.replay is None else None
        self._session: Session | None = None
        self._devices: Sequence[Device] = ()
        self.recorded: list[Path] = []
        """The recordings that sessions left behind when they ended, to be named at the very end."""
        self._endings: list[threading.Thread] = []
        self._lock = threading.Lock()

    @property
    def host(self) -> Host | None:
        """The machine; None before the first frame."""
        return self._host if self._first_frame_was else None

    @cached_property
    def _host(self) -> Host:
        from gputrain_runner.machine import host_facts

        return host_facts()

    @cached_property
    def _telemetry(self) -> Telemetry:
        from gputrain_runner.telemetry import Telemetry

        return Telemetry()

    @property
    def telemetry(self) -> TelemetrySource:
        """What samples GPUs and host, from the first frame on."""
        return self._telemetry

    @property
    def devices(self) -> Sequence[Device]:
        """The devices PyTorch can use; empty while the first worker loads it."""
        if not self._devices:
            if self._idle is not None and self._idle.hello is not None:
                self._devices = self._idle.hello.devices
            elif self._session is not None:
                self._devices = self._session.header.devices
        return self._devices

    @property
    def gpu_absence(self) -> str | None:
        """Why there is no GPU telemetry, in one line."""
        return self._telemetry.latest().gpu_absence if self._first_frame_was else None

    @property
    def awaits_worker(self) -> bool:
        """Whether the session's worker still loads PyTorch and has yet to be told what to train."""
        return self._session is not None and self._session.awaits_worker

    def first_frame(self) -> None:
        """Begin to sample GPUs and host."""
        self._first_frame_was = True
        self._telemetry.start()

    def open(self, preset: Preset) -> Session:
        """Train a preset with the worker that waits; SessionError where that cannot be."""
        from gputrain_runner.recorder import RecordingError
        from gputrain_runner.session import Session
        from gputrain_runner.settings import SettingError

        self._end_session()
        worker, self._idle = self._idle, None
        try:
            if worker is None or not worker.running:
                worker = WorkerProcess()
            session = Session(self._session_options(preset), worker=worker, telemetry=self._telemetry)
        except (SettingError, RecordingError, WorkerError) as error:
            self._idle = worker
            raise SessionError(str(error)) from None
        self._session = session
        session.start()
        return session

    def close(self) -> None:
        """End the session in the background, and have a new worker wait."""
        self._end_session()
        # Where it cannot be started now, opening the next session says why.
        with contextlib.suppress(WorkerError):
            self._idle = WorkerProcess()

    def leave(self, ended: Ended) -> None:
        """End everything, recordings completed, and wait for it; from any thread, and again."""
        with self._lock:
            session, self._session = self._session, None
            idle, self._idle = self._idle, None
            if self._first_frame_was:
                self._telemetry.stop()
            if session is not None:
                self._note_recording(session)
                session.stop(ended)
            if idle is not None:
                idle.stop(grace_s=0)
            deadline = time.monotonic() + LAST_WAIT_S
            for ending in self._endings:
                ending.join(max(0.0, deadline - time.monotonic()))

    def _end_session(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        self._note_recording(session)
        ending = threading.Thread(target=session.stop, args=("finished",), name="session ending", daemon=True)
        ending.start()
        self._endings = [*(thread for thread in self._endings if thread.is_alive()), ending]

    def _note_recording(self, session: Session) -> None:
        if session.recording is not None:
            self.recorded.append(session.recording)

    def _session_options(self, preset: Preset) -> SessionOptions:
        from gputrain_runner.options import SessionOptions

        options = self._options
        if options.data is not None and hasattr(preset.data, "path"):
            preset = structs.replace(preset, data=structs.replace(preset.data, path=options.data))
        return SessionOptions(
            preset=preset,
            device=options.device,
            falls_back=True,
            batch_size=options.batch_size,
            model_size=options.model_size,
            overrides=options.overrides,
            command=options.command,
            record=self._recording_path(preset),
        )

    def _recording_path(self, preset: Preset) -> Path | None:
        """The default place, or the path given; later sessions go beside it, to NAME-2 and so on.

        A recording is never overwritten.
        """
        if self._record is True:
            from datetime import UTC, datetime

            from gputrain_runner.paths import default_path

            return default_path(datetime.now(UTC), preset.name)
        if self._record is None:
            return None
        path, number = self._record, 1
        while path.exists():
            number += 1
            path = self._record.with_stem(f"{self._record.stem}-{number}")
        return path
