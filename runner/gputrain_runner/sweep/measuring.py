"""One point in one round: a worker is given it and listened to until it answers, ends, or takes too long."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable

from gputrain_presets import Preset

from ..process import WorkerError, WorkerProcess
from ..protocol import Failed, Hello, Report, StepsTimed, TimeSteps
from ..settings import Settings
from .result import Outcome

LOADING_S = 120.0
"""PyTorch's import and the data's making may take so long beside the point's own time."""
LOOK_S = 0.1


class Answer:
    """What came of it."""

    def __init__(self, outcome: Outcome, error: str | None = None, timed: StepsTimed | None = None) -> None:
        self.outcome = outcome
        self.error = error
        self.timed = timed


class PointWorker:
    """A worker for points, started when the first is asked for. Used by one thread, which starts it."""

    def __init__(self, shared: bool) -> None:
        """`shared`: one process for all points; else each has a fresh one."""
        self._shared = shared
        self._worker: WorkerProcess | None = None
        self._heard: queue.SimpleQueue[Report | _End] = queue.SimpleQueue()

    def hello(self, interrupted: Callable[[], bool]) -> Hello:
        """What the worker says of this machine.

        Raises:
            WorkerError: it cannot be started, or ends.
            KeyboardInterrupt: it was interrupted.
        """
        worker = self._started()
        deadline = time.monotonic() + LOADING_S
        while worker.hello is None:
            self._next(deadline, interrupted)
            if not worker.running or time.monotonic() > deadline:
                raise WorkerError(self._last_words("the worker ended before PyTorch was loaded"))
        return worker.hello

    @property
    def pid(self) -> int | None:
        """The worker's process, where there is one."""
        return None if self._worker is None else self._worker.pid

    def measure(
        self,
        preset: Preset,
        settings: Settings,
        warmup: int,
        runs: int,
        seconds: float,
        seed: int,
        interrupted: Callable[[], bool],
    ) -> Answer:
        """Measure one point.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        try:
            worker = self._started()
            worker.send(
                TimeSteps(
                    preset=preset, settings=settings, warmup=warmup, runs=runs, seconds=seconds / 2, seed=seed
                )
            )
        except WorkerError as error:
            return Answer("failed", str(error))
        try:
            return self._listen(time.monotonic() + seconds + LOADING_S, seconds, interrupted)
        finally:
            if not self._shared:
                self.close()

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop(grace_s=0)
        self._heard = queue.SimpleQueue()

    def _started(self) -> WorkerProcess:
        if self._worker is None:
            self._worker = WorkerProcess()
            heard = self._heard
            self._worker.attach(heard.put, lambda why: heard.put(_End(why)))
        return self._worker

    def _listen(self, deadline: float, seconds: float, interrupted: Callable[[], bool]) -> Answer:
        while True:
            news = self._next(deadline, interrupted)
            if isinstance(news, StepsTimed):
                return Answer(news.outcome, news.error, news)
            if isinstance(news, Failed):
                self.close()
                return Answer("failed", news.error)
            if isinstance(news, _End):
                text = self._last_words(f"the worker {news.why or 'ended without an answer'}")
                self.close()
                # Nobody but the system kills it so; it does that for memory.
                return Answer("out_of_memory" if "SIGKILL" in text else "failed", text)
            if time.monotonic() > deadline:
                self.close()
                return Answer("timed_out", f"given up after {seconds:.0f} s")

    def _next(self, deadline: float, interrupted: Callable[[], bool]) -> Report | _End | None:
        if interrupted():
            self.close()
            raise KeyboardInterrupt
        try:
            return self._heard.get(timeout=min(LOOK_S, max(0.001, deadline - time.monotonic())))
        except queue.Empty:
            return None

    def _last_words(self, text: str) -> str:
        said = self._worker.log_tail(1) if self._worker is not None else []
        return f"{text}; it said last: {said[0]}" if said else text


class _End:
    """The worker's process is gone."""

    def __init__(self, why: str | None) -> None:
        self.why = why
