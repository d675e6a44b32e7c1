"""A sweep being run: its points in rounds, its file written after each, and gone on with where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import structs

from gputrain_presets import Preset

from ..ceilings import Probe
from ..machine import host_facts
from ..process import WorkerError, WorkerProcess
from ..protocol import TimeSteps
from ..samples import TelemetrySource
from ..timeline import Device, Host
from .fits import fits_of
from .measuring import Answer, Interrupted, PointWorker
from .plan import Plan, PlanError, Point, on_devices
from .reckoning import reckoned, without_trying
from .result import PointResult, SweepFile, save
from .watching import Watching


class SweepError(Exception):
    """A sweep that cannot begin; the text is one line for the user.

    Attributes:
        usage: whether what was asked for is wrong, rather than something having failed.
    """

    def __init__(self, text: str, usage: bool = False) -> None:
        super().__init__(text)
        self.usage = usage


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


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears how a sweep goes, from the thread that runs it."""

    begins: Callable[[Point, Progress], None] = lambda _point, _progress: None
    """This point is measured next."""
    measured: Callable[[PointResult, Progress], None] = lambda _result, _progress: None
    wrote: Callable[[SweepFile], None] = lambda _sweep: None
    """This is in the file now."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a sweep needs beside its plan; the defaults leave out what is not there."""

    telemetry: TelemetrySource | None = None
    """What notes host and GPUs meanwhile."""
    probe: Callable[[Sequence[Device], Host], Probe] = lambda _devices, _host: {}
    """The ceilings of these devices, as far as they are known."""
    start: Callable[[], WorkerProcess] = WorkerProcess


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
        around: Surroundings | None = None,
        listener: Listener | None = None,
        interrupted: Interrupted = lambda: False,
    ) -> None:
        """Prepare it.

        Args:
            plan: what to measure.
            presets: every preset of the plan by the name that its points give.
            path: where the file goes.
            command: the command line that does the same, for the file.
            resumed: what an earlier run of the same plan has measured.
            around: telemetry, ceilings, workers.
            listener: who hears how it goes.
            interrupted: whether to stop, looked at often.
        """
        self._plan = plan
        self._presets = presets
        self._path = path
        self._command = list(command)
        self._around = around or Surroundings()
        self._listener = listener or Listener()
        self._interrupted = interrupted
        self._worker = PointWorker(plan.shared, self._around.start)
        telemetry = self._around.telemetry
        self._watching = None if telemetry is None else Watching(telemetry)
        self._results = {} if resumed is None else {result.key: result for result in resumed.points}
        self._started_at = resumed.started_at if resumed else _now()
        self._done = 0
        self._took_s: dict[tuple[object, ...], float] = {}
        self._probe: tuple[str | None, Probe] | None = None

    def run(self) -> SweepFile:
        """Measure all that is not measured yet; the file as it is at the end.

        Raises:
            SweepError: no worker can be started, or the plan cannot be carried out here.
            SweepFileError: the file cannot be written.
            KeyboardInterrupt: it was interrupted; what is measured is in the file.
        """
        try:
            if self._watching is not None:
                self._watching.start()
            self._hello = self._worker.hello(self._interrupted)
            self._plan = on_devices(self._plan, self._hello)
            self._check_resumed()
            self._write()
            for number in range(self._plan.rounds):
                for point in self._plan.points:
                    self._visit(point, number)
            return self._write(complete=True)
        except WorkerError as error:
            raise SweepError(str(error)) from None
        except PlanError as error:
            raise SweepError(str(error), usage=True) from None
        finally:
            self._worker.close()
            if self._watching is not None:
                self._watching.close()

    def _check_resumed(self) -> None:
        """PlanError where what was measured belongs to another grid."""
        known = {point.key for point in self._plan.points}
        other = next((each for each in self._results.values() if each.key not in known), None)
        if other is not None:
            at = f"{other.preset}, {other.settings.device}, batch {other.settings.batch_size:,}"
            raise PlanError(f"{self._path} holds points of another grid ({at}): name a new file")

    def _visit(self, point: Point, number: int) -> None:
        """One point in one round: nothing to do where it was measured then, or will never work."""
        before = self._results.get(point.key)
        if not self._is_due(point, number):
            self._done += 1
            return
        result = self._without_trying(point) if before is None else None
        if result is None:
            self._listener.begins(point, self._progress(number))
            began = time.monotonic()
            result = self._measured(point, before, number)
            self._took_s[point.key] = time.monotonic() - began
        self._results[point.key] = result
        self._done += 1
        self._write()
        self._listener.measured(result, self._progress(number))

    def _is_due(self, point: Point, number: int) -> bool:
        before = self._results.get(point.key)
        return before is None or (before.outcome == "ok" and before.rounds <= number)

    def _without_trying(self, point: Point) -> PointResult | None:
        others = [
            (other, self._results[other.key]) for other in self._plan.points if other.key in self._results
        ]
        return without_trying(point, self._device(point).compute_capability, others)

    def _measured(self, point: Point, before: PointResult | None, number: int) -> PointResult:
        plan, settings = self._plan, point.settings
        asked = TimeSteps(
            preset=self._presets[point.preset],
            settings=settings,
            warmup=plan.warmup,
            runs=plan.runs_in(number),
            seconds=plan.point_seconds,
            seed=plan.seed,
        )
        try:
            worker_pid = self._worker.start()
        except WorkerError as error:
            return reckoned(point, before, Answer("failed", str(error)), None, None)
        if self._watching is not None:
            self._watching.begin(self._device(point).uuid, worker_pid)
        answer = self._worker.measure(asked, self._interrupted)
        timed, means = answer.timed, None
        if self._watching is not None and timed is not None and timed.began_at is not None:
            means = self._watching.means(timed.began_at, timed.at)
        ceilings = self._ceilings().get(settings.device)
        return reckoned(point, before, answer, means, ceilings)

    def _device(self, point: Point) -> Device:
        return next(each for each in self._hello.devices if each.device == point.settings.device)

    def _ceilings(self) -> Probe:
        """Those kept of this machine's devices; a GPU's count under the same driver alone, known late."""
        host = self._host()
        if self._probe is None or self._probe[0] != host.driver:
            self._probe = host.driver, self._around.probe(self._hello.devices, host)
        return self._probe[1]

    def _host(self) -> Host:
        driver = None if self._watching is None else self._watching.driver
        said = self._hello
        return structs.replace(
            host_facts(), torch=said.torch, cuda=said.cuda, cudnn=said.cudnn, driver=driver
        )

    def _progress(self, number: int) -> Progress:
        plan = self._plan
        return Progress(number + 1, plan.rounds, self._done, len(plan.points) * plan.rounds, self._left_s())

    def _left_s(self) -> float | None:
        """What each measurement still to come took last, or as long as the others on the average."""
        if not self._took_s:
            return None
        usual_s = sum(self._took_s.values()) / len(self._took_s)
        rounds = range(self._plan.rounds)
        return sum(
            self._took_s.get(point.key, usual_s) * sum(self._is_due(point, number) for number in rounds)
            for point in self._plan.points
        )

    def _write(self, complete: bool = False) -> SweepFile:
        plan = self._plan
        points = [self._results[point.key] for point in plan.points if point.key in self._results]
        sweep = SweepFile(
            started_at=self._started_at,
            command=self._command,
            host=self._host(),
            devices=self._hello.devices,
            planned=len(plan.points),
            complete=complete,
            runs=plan.runs,
            warmup=plan.warmup,
            rounds=plan.rounds,
            points=points,
            fits=fits_of(points),
            presets={name: msgspec.to_builtins(preset) for name, preset in self._presets.items()},
            plan=plan,
        )
        save(self._path, sweep)
        self._listener.wrote(sweep)
        return sweep


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
