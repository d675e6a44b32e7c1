"""One point in one round: a worker is given it and listened to until it answers, ends, or takes too long."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path

from ..process import WorkerError, WorkerProcess
from ..protocol import Failed, Hello, Report, StepsTimed, TimeSteps
from .result import Outcome

LOADING_S = 120.0
"""PyTorch's import may take so long, beside the point's own time."""
LATE_S, LATE = 1.0, 0.1
"""A worker keeps to a point's time by itself; it is given up so many seconds, or such a share, after it."""
LOOK_S = 0.05

Interrupted = Callable[[], bool]


class Answer:
    """What came of it."""

    def __init__(self, outcome: Outcome, error: str | None = None, timed: StepsTimed | None = None) -> None:
        self.outcome = outcome
        self.error = error
        self.timed = timed


class PointWorker:
    """A worker for points, started when the first is asked for.

    Used by one thread, which starts it and lives as long as it is to: Linux ends a worker with the thread
    that started it.
    """

    def __init__(self, shared: bool, start: Callable[[], WorkerProcess] = WorkerProcess) -> None:
        """`shared`: one process for all points; else each has a fresh one."""
        self._shared = shared
        self._start = start
        self._worker: WorkerProcess | None = None
        self._heard: queue.SimpleQueue[Report | _End] = queue.SimpleQueue()

    def start(self) -> int:
        """Have a worker, a new one where there is none; its process id.

        Raises:
            WorkerError: it cannot be started.
        """
        if self._worker is None:
            self._worker = self._start()
            heard = self._heard
            self._worker.attach(heard.put, lambda why: heard.put(_End(why)))
        return self._worker.pid

    def hello(self, interrupted: Interrupted) -> Hello:
        """What the worker says of this machine.

        Raises:
            WorkerError: it cannot be started, or ends.
            KeyboardInterrupt: it was interrupted.
        """
        self.start()
        worker = self._worker
        assert worker is not None
        deadline = time.monotonic() + LOADING_S
        while worker.hello is None:
            news = self._next(interrupted)
            if isinstance(news, _End) or time.monotonic() > deadline:
                raise WorkerError(self._last_words("the worker ended before PyTorch was loaded"))
        return worker.hello

    def measure(self, asked: TimeSteps, interrupted: Interrupted) -> Answer:
        """Measure one point.

        Raises:
            KeyboardInterrupt: it was interrupted.
        """
        kills = _oom_kills()
        try:
            self.hello(interrupted)
            assert self._worker is not None
            self._worker.send(asked)
        except WorkerError as error:
            self.close()
            return Answer("failed", str(error))
        answer = self._listen(asked.seconds, interrupted, kills)
        # What a failure leaves behind, on a GPU above all, is not to meet the next point.
        if not self._shared or answer.outcome != "ok":
            self.close()
        return answer

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.stop(grace_s=0)
        self._heard = queue.SimpleQueue()

    def _listen(self, seconds: float, interrupted: Interrupted, kills: int | None) -> Answer:
        deadline = time.monotonic() + seconds + max(LATE_S, LATE * seconds)
        looked_again = False
        while True:
            news = self._next(interrupted)
            if isinstance(news, StepsTimed):
                return Answer(news.outcome, news.error, news)
            if isinstance(news, Failed):
                return Answer("failed", news.error)
            if isinstance(news, _End):
                text = self._last_words(f"the worker {news.why or 'ended without an answer'}")
                by_system = "SIGKILL" in text and kills is not None and (_oom_kills() or 0) > kills
                return Answer("out_of_memory" if by_system else "failed", text)
            if news is None and time.monotonic() > deadline:
                if looked_again:
                    return Answer("timed_out", f"given up after {seconds:g} s")
                # This program may have been stopped meanwhile (ctrl+z): what was answered comes only now.
                looked_again = True

    def _next(self, interrupted: Interrupted) -> Report | _End | None:
        """The next thing heard within a moment; None where there is nothing."""
        if interrupted():
            self.close()
            raise KeyboardInterrupt
        try:
            return self._heard.get(timeout=LOOK_S)
        except queue.Empty:
            return None

    def _last_words(self, text: str) -> str:
        said = self._worker.log_tail(1) if self._worker is not None else []
        return f"{text}; it said last: {said[0]}" if said else text


class _End:
    """The worker's process is gone."""

    def __init__(self, why: str | None) -> None:
        self.why = why


def _oom_kills(counters: Path = Path("/proc/vmstat")) -> int | None:
    """How many processes Linux has killed for want of memory since it started; None where that is unknown."""
    try:
        for line in counters.read_text().splitlines():
            name, _, value = line.partition(" ")
            if name == "oom_kill":
                return int(value)
    except (OSError, ValueError):
        pass
    return None
