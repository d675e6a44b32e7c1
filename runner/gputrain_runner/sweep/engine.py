"""A sweep being run: its points in rounds, its file written after each, and gone on with where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from gputrain_presets import Preset

from ..ceilings import Probe, share_of_ceiling
from ..machine import host_facts
from ..process import WorkerError
from ..protocol import Hello, StepsTimed
from ..settings import refusal
from .measuring import Answer, PointWorker
from .plan import Plan, Point
from .result import (
    NOISY,
    PointResult,
    SweepFile,
    Times,
    fits_of,
    ms_of,
    save,
)
from .watching import Watching


class SweepError(Exception):
    """A sweep that cannot begin; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is."""

    round: int
    """Counted from 1."""
    rounds: int
    done: int
    """Measurements made, over all rounds; those that need none count as made."""
    of: int
    left_s: float | None
    """About how long the rest takes; None before the first."""


Tell = Callable[[PointResult, Progress], None]


class Sweep:
    """One sweep. `run` is called once, by the thread that is to own the workers."""

    def __init__(
        self,
        plan: Plan,
        presets: Mapping[str, Preset],
        path: Path,
        *,
        command: Sequence[str] = (),
        resumed: SweepFile | None = None,
        shared: bool = False,
        probe: Callable[[Hello], Probe] = lambda _hello: {},
        watching: Watching | None = None,
        begin: Callable[[Point, Progress], None] = lambda _point, _progress: None,
        tell: Tell = lambda _result, _progress: None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare it.

        Args:
            plan: what to measure.
            presets: every preset of the plan by its name.
            path: where the file goes.
            command: the command line, for the file.
            resumed: what an earlier run of the same plan has measured.
            shared: one process for all points.
            probe: the ceilings of this machine's devices, as far as they are known.
            watching: what notes host and GPUs meanwhile; None leaves them out.
            begin: is told which point is measured next.
            tell: is given each result as it comes.
            interrupted: whether to stop, looked at often.
        """
        self._plan = plan
        self._presets = presets
        self._path = path
        self._command = list(command)
        self._worker = PointWorker(shared)
        self._probe = probe
        self._watching = watching
        self._begin = begin
        self._tell = tell
        self._interrupted = interrupted
        self._results: dict[tuple[object, ...], PointResult] = {}
        if resumed is not None:
            self._results = {result.key: result for result in resumed.points}
        self._started_at = resumed.started_at if resumed else _now()
        self._done = 0
        self._spent_s = 0.0
        self._measured = 0
        self._ceilings: Probe = {}

    def run(self) -> SweepFile:
        """Measure all that is not measured yet; the file as it is at the end.

        Raises:
            SweepError: no worker can be started.
            SweepFileError: the file cannot be written.
            KeyboardInterrupt: it was interrupted; what is measured is in the file.
        """
        try:
            self._hello = self._worker.hello(self._interrupted)
            self._ceilings = self._probe(self._hello)
            self._write()
            for number in range(self._plan.rounds):
                for point in self._plan.points:
                    self._visit(point, number)
            return self._write(complete=True)
        except WorkerError as error:
            raise SweepError(str(error)) from None
        finally:
            self._worker.close()

    def _visit(self, point: Point, number: int) -> None:
        """One point in one round: nothing to do where it was measured then, or will never work."""
        before = self._results.get(point.key)
        due = before is None or (before.outcome == "ok" and before.rounds <= number)
        if due and before is None and (known := self._known_outcome(point)) is not None:
            self._take(point, known)
            due = False
        if due:
            self._begin(point, self._progress(number))
            began = time.monotonic()
            self._take(point, self._measured_now(point, before, number))
            self._spent_s += time.monotonic() - began
            self._measured += 1
        self._done += 1
        if due or before is None:
            self._write()
            self._tell(self._results[point.key], self._progress(number))

    def _known_outcome(self, point: Point) -> PointResult | None:
        """What can be said without trying: settings that are refused, a batch above one that did not fit."""
        device = next((d for d in self._hello.devices if d.device == point.settings.device), None)
        if device is None:
            there = ", ".join(each.device for each in self._hello.devices)
            return _without(point, "failed", f"there is no device {point.settings.device}; there are {there}")
        refused = refusal(point.settings, device.compute_capability)
        if refused is not None:
            return _without(point, "failed", refused)
        for smaller in self._plan.points:
            result = self._results.get(smaller.key)
            if (
                result is not None
                and result.outcome == "out_of_memory"
                and smaller.family == point.family
                and smaller.settings.batch_size < point.settings.batch_size
            ):
                text = f"not tried: batch {smaller.settings.batch_size:,} did not fit already"
                return _without(point, "out_of_memory", text)
        return None

    def _measured_now(self, point: Point, before: PointResult | None, number: int) -> PointResult:
        plan = self._plan
        runs = plan.runs * (number + 1) // plan.rounds - plan.runs * number // plan.rounds
        if self._watching is not None:
            self._watching.begin(point.settings.device, self._hello)
        answer = self._worker.measure(
            self._presets[point.preset],
            point.settings,
            plan.warmup,
            max(1, runs),
            plan.point_seconds,
            plan.seed,
            self._interrupted,
        )
        means = self._watching.means() if self._watching is not None else None
        return self._result(point, before, answer, means)

    def _result(
        self,
        point: Point,
        before: PointResult | None,
        answer: Answer,
        means: dict[str, float] | None,
    ) -> PointResult:
        timed = answer.timed
        if timed is None or answer.outcome != "ok":
            # A point that worked in an earlier round keeps what it had.
            return before if before is not None else _without(point, answer.outcome, answer.error)
        old = Times() if before is None else before.times
        times = Times(
            forward=[*old.forward, *_rounded(timed.forward_ms)],
            forward_backward=[*old.forward_backward, *_rounded(timed.forward_backward_ms)],
            step=[*old.step, *_rounded(timed.step_ms)],
        )
        return self._ok(point, timed, times, 1 if before is None else before.rounds + 1, means)

    def _ok(
        self, point: Point, timed: StepsTimed, times: Times, rounds: int, means: dict[str, float] | None
    ) -> PointResult:
        settings = point.settings
        training = settings.passes == "training"
        step = ms_of(times.step)
        asked = ms_of(times.forward_backward if training else times.forward)
        assert step is not None
        samples = settings.batch_size * settings.models_at_once
        per_s = samples / step.median * 1e3
        flops = None if timed.flops_per_sample is None else timed.flops_per_sample * per_s
        ceilings = self._ceilings.get(settings.device)
        return PointResult(
            preset=point.preset,
            settings=settings,
            passes=settings.passes,
            outcome="ok",
            error=None,
            runs=len(times.step),
            rounds=rounds,
            ms=asked,
            forward_ms=ms_of(times.forward),
            forward_backward_ms=ms_of(times.forward_backward),
            step_ms=step,
            samples_per_s=per_s,
            ms_per_sample=step.median / samples,
            peak_memory_bytes=timed.peak_memory_bytes,
            flops_per_s=flops,
            share_of_ceiling=share_of_ceiling(flops, settings.precision, ceilings),
            noisy=asked is not None and asked.iqr > NOISY * asked.median,
            telemetry=means,
            actual=timed.settings,
            flags=timed.flags,
            times=times,
        )

    def _take(self, point: Point, result: PointResult) -> None:
        self._results[point.key] = result

    def _progress(self, number: int) -> Progress:
        of = len(self._plan.points) * self._plan.rounds
        each_s = self._spent_s / self._measured if self._measured else None
        left = sum(
            1
            for at in range(self._plan.rounds)
            for point in self._plan.points
            if (r := self._results.get(point.key)) is None or (r.outcome == "ok" and r.rounds <= at)
        )
        return Progress(
            number + 1, self._plan.rounds, self._done, of, None if each_s is None else each_s * left
        )

    def _write(self, complete: bool = False) -> SweepFile:
        plan = self._plan
        points = [self._results[point.key] for point in plan.points if point.key in self._results]
        hello = self._hello
        host = structs.replace(host_facts(), torch=hello.torch, cuda=hello.cuda, cudnn=hello.cudnn)
        sweep = SweepFile(
            started_at=self._started_at,
            command=self._command,
            host=host,
            devices=hello.devices,
            planned=len(plan.points),
            complete=complete,
            runs=plan.runs,
            warmup=plan.warmup,
            rounds=plan.rounds,
            points=points,
            fits=fits_of(points),
        )
        save(self._path, sweep)
        return sweep


def _without(point: Point, outcome: str, error: str | None) -> PointResult:
    """A point without figures."""
    return PointResult(
        preset=point.preset,
        settings=point.settings,
        passes=point.settings.passes,
        outcome=outcome,  # type: ignore[arg-type]
        error=error,
        runs=0,
        rounds=0,
    )


def _rounded(times_ms: Sequence[float]) -> list[float]:
    """To a tenth of a microsecond: the clock knows no more."""
    return [round(ms, 4) for ms in times_ms]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
