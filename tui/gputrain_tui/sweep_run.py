"""Sweeps that run while a screen looks on: each in a thread of its own, which owns its workers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from gputrain_runner.samples import TelemetrySource
    from gputrain_runner.sweep import Point, PointResult, Progress, SweepFile
    from gputrain_runner.sweep.job import Job

State = Literal["starting", "running", "complete", "stopped", "failed"]


class RunningSweep(Protocol):
    """What a screen needs of a sweep that runs or has run; all of it at once."""

    @property
    def state(self) -> State:
        """Starting until PyTorch is loaded; the last three are its end."""

    @property
    def sweep(self) -> SweepFile | None:
        """What is in its file; None before there is one."""

    @property
    def point(self) -> Point | None:
        """What is measured now."""

    @property
    def progress(self) -> Progress | None:
        """How far it is; None before the first point."""

    @property
    def error(self) -> str | None:
        """Why it failed, in one line."""

    def stop(self, wait_s: float = 0.0) -> None:
        """End it, its file whole and its worker gone; wait for that for so long."""


class Sweeps(Protocol):
    """Where screens get their sweeps from."""

    def begin(self, job: Job) -> RunningSweep:
        """Measure what the job asks for."""


class LiveSweeps:
    """The real ones."""

    def __init__(self, telemetry: Callable[[], TelemetrySource | None]) -> None:
        self._telemetry = telemetry

    def begin(self, job: Job) -> RunningSweep:
        """Measure what the job asks for."""
        return LiveSweep(job, self._telemetry())


class LiveSweep:
    """A sweep and its thread, begun at once."""

    def __init__(self, job: Job, telemetry: TelemetrySource | None) -> None:
        self.state: State = "starting"
        self.sweep: SweepFile | None = job.resumed
        self.point: Point | None = None
        self.progress: Progress | None = None
        self.error: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(job, telemetry), name="sweep", daemon=True)
        self._thread.start()

    def stop(self, wait_s: float = 0.0) -> None:
        """End it, its file whole and its worker gone; wait for that for so long."""
        self._stop.set()
        self._thread.join(wait_s)

    def _run(self, job: Job, telemetry: TelemetrySource | None) -> None:
        from gputrain_runner.probe_store import stored
        from gputrain_runner.sweep import Listener, Surroundings, Sweep, SweepError, SweepFileError

        sweep = Sweep(
            job.plan,
            job.presets,
            job.path,
            command=job.command,
            resumed=job.resumed,
            around=Surroundings(telemetry, stored),
            listener=Listener(self._begins, self._measured, self._wrote),
            interrupted=self._stop.is_set,
        )
        end: State = "failed"
        try:
            sweep.run()
            end = "complete"
        except KeyboardInterrupt:
            end = "stopped"
        except (SweepError, SweepFileError) as error:
            self.error = str(error)
        except Exception as error:  # The screen says so; a thread that ends in silence would not.
            self.error = f"this is a mistake in gputrain-tui: {type(error).__name__}: {error}"
        finally:
            self.point = None
            self.state = end

    def _begins(self, point: Point, progress: Progress) -> None:
        self.point, self.progress = point, progress

    def _measured(self, _result: PointResult, progress: Progress) -> None:
        self.point, self.progress = None, progress

    def _wrote(self, sweep: SweepFile) -> None:
        self.sweep = sweep
        self.state = "running"
