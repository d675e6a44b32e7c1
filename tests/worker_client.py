"""A worker, and all that it says."""

from __future__ import annotations

import queue
import threading
from typing import Any, TypeVar

from gputrain_presets import Preset
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import Failed, Report, Start

T = TypeVar("T")


class Client:
    """Starts a worker and takes its reports in order."""

    def __init__(self) -> None:
        self.process = WorkerProcess()
        self.ended = threading.Event()
        self.how: str | None = None
        self.seen: list[Report] = []
        self._reports: queue.Queue[Report] = queue.Queue()
        self.process.attach(self._reports.put, self._end)

    def start(self, preset: Preset, **options: Any) -> None:
        """Train it on the CPU."""
        self.process.send(Start(preset=preset, settings=settings.initial(preset, "cpu"), **options))

    def wait_for(self, kind: type[T], timeout_s: float = 60.0) -> T:
        """The next report of a kind."""
        while True:
            report = self._reports.get(timeout=timeout_s)
            self.seen.append(report)
            if isinstance(report, kind):
                return report
            assert not isinstance(report, Failed), report

    def all(self, kind: type[T]) -> list[T]:
        """Those of a kind seen so far."""
        return [report for report in self.seen if isinstance(report, kind)]

    def _end(self, how: str | None) -> None:
        self.how = how
        self.ended.set()
