"""Sweeps for tests of screens: nothing is measured, the test says what has come of each point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import to_builtins

from gputrain_runner.protocol import Hello, StepsTimed
from gputrain_runner.sweep import Point, PointResult, Progress, SweepFile
from gputrain_runner.sweep.fits import fits_of
from gputrain_runner.sweep.job import Job
from gputrain_runner.sweep.measuring import Answer
from gputrain_runner.sweep.plan import on_devices
from gputrain_runner.sweep.reckoning import nothing, reckoned
from gputrain_runner.timeline import Device, Host
from gputrain_tui.sweep_run import State

HOST = Host(os="Linux", cpu="a CPU", cores=2, memory_bytes=1, python="3.11", over_ssh=False, torch="2.13")
DEVICES = [
    Device(device="cuda:0", name="NVIDIA H200", compute_capability="9.0"),
    Device(device="cpu", name="AMD EPYC"),
]


def result_of(point: Point, ms: float) -> PointResult:
    """A point whose step takes so long."""
    times = [ms, ms * 1.01, ms * 0.99]
    trains = point.settings.passes == "training"
    timed = StepsTimed(
        at=1.0,
        outcome="ok",
        error=None,
        settings=point.settings,
        forward_ms=[each / 3 for each in times] if trains else times,
        forward_backward_ms=times if trains else [],
        step_ms=[each * 1.1 for each in times],
        peak_memory_bytes=1_000_000_000,
    )
    return reckoned(point, None, Answer("ok", None, timed), None, None)


class FakeSweep:
    """A sweep that the test moves."""

    def __init__(self, job: Job) -> None:
        self.job = job
        hello = Hello(torch="2.13", cuda=None, cudnn=None, devices=DEVICES, threads=2)
        self.plan = on_devices(job.plan, hello)
        self.state: State = "starting"
        self.sweep: SweepFile | None = job.resumed
        self.point: Point | None = None
        self.progress: Progress | None = None
        self.error: str | None = None
        self.stops: list[float] = []
        self._results = [] if job.resumed is None else list(job.resumed.points)

    def stop(self, wait_s: float = 0.0) -> None:
        self.stops.append(wait_s)
        if self.state in ("starting", "running"):
            self.state = "stopped"

    def measure(self, count: int, ms_of: Callable[[Point], float | None]) -> None:
        """So many more points; a time of None is out of memory."""
        known = {result.key for result in self._results}
        left = [point for point in self.plan.points if point.key not in known]
        for point in left[:count]:
            ms = ms_of(point)
            missing = nothing(point, "out_of_memory", "out of memory: needs another 2 GB")
            self._results.append(missing if ms is None else result_of(point, ms))
        self.point = left[count] if count < len(left) else None
        self.state = "running" if self.point is not None else "complete"
        done = len(self._results)
        self.progress = Progress(1, self.plan.rounds, done, len(self.plan.points) * self.plan.rounds, 125.0)
        self.sweep = self.file(complete=self.point is None)

    def file(self, *, complete: bool, with_presets: bool = False) -> SweepFile:
        """What would lie in its file."""
        presets = to_builtins(dict(self.job.presets)) if with_presets else {}
        return SweepFile(
            started_at="2026-11-30T10:00:00.000+00:00",
            host=HOST,
            devices=DEVICES,
            planned=len(self.plan.points),
            complete=complete,
            runs=self.plan.runs,
            warmup=self.plan.warmup,
            rounds=self.plan.rounds,
            points=list(self._results),
            fits=fits_of(self._results),
            presets=presets,
            plan=self.plan,
        )


class FakeSweeps:
    """Begins sweeps that the test moves."""

    def __init__(self) -> None:
        self.begun: list[FakeSweep] = []

    def begin(self, job: Job) -> FakeSweep:
        self.begun.append(FakeSweep(job))
        return self.begun[-1]


def published_like(points: Sequence[str]) -> Callable[[Point], float | None]:
    """Times with a line in them; the largest batches of the presets named do not fit."""

    def ms(point: Point) -> float | None:
        now = point.settings
        if point.preset in points and now.batch_size >= 64:
            return None
        share = 1.0 if now.passes == "training" else 0.33
        slow = 1.0 if now.device != "cpu" else 40.0
        return (3.0 + 0.9 * now.batch_size) * share * slow

    return ms
