"""A session without a screen that is steered: settings turned one after another, each measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from types import TracebackType

from .feed import Refused
from .measured_run import MeasureError, rate_in
from .options import SessionOptions
from .process import WorkerError
from .samples import TelemetrySource
from .session import Session
from .settings import SettingError, Settings, Value
from .timeline import Change, Entry, Rate, Sample, Summary

LOOK_S = 0.05
CHANGE_TIMEOUT_S = 600.0
"""A change may compile, which takes a minute on a slow machine."""
STEADY_TIMEOUT_S = 300.0
SAMPLES = 8
"""Steady samples that make a measurement: two seconds of a fast workload."""


class Steering:
    """A live session as a context: `with Steering(options) as steering`.

    Raises (every method):
        MeasureError: the session failed; one line.
    """

    def __init__(
        self,
        options: SessionOptions,
        telemetry: TelemetrySource | None = None,
        on_entries: Callable[[int, Sequence[Entry]], None] = lambda _first, _entries: None,
        interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare it.

        Args:
            options: what to train, from which settings.
            telemetry: asked for host and GPUs; None leaves them unknown.
            on_entries: is given what is new in the timeline, with the position of the first, as it comes.
            interrupted: whether to give up, looked at often; KeyboardInterrupt is raised then.
        """
        try:
            self.session = Session(options, telemetry=telemetry)
        except (SettingError, WorkerError) as error:
            raise MeasureError(str(error), isinstance(error, SettingError)) from None
        self._on_entries = on_entries
        self._interrupted = interrupted
        self._position = 0
        self._samples: list[Sample] = []
        self._changes: list[Change] = []
        self.summary: Summary | None = None

    def __enter__(self) -> Steering:
        self.session.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ended = "finished" if kind is None else "interrupted" if kind is KeyboardInterrupt else "failed"
        self.summary = self.session.stop(ended)  # type: ignore[arg-type]
        self._pull()

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.session.settings

    def wait_until_training(self) -> None:
        """Wait for the first sample of steps."""
        self._wait(
            lambda: any(each.samples_per_s for each in self._samples), STEADY_TIMEOUT_S, "the first step"
        )

    def turn(self, wanted: Mapping[str, Value]) -> str | None:
        """Change settings, one after another; None, or why one could not be (those before it stay)."""
        for name, value in wanted.items():
            if self.session.settings.value(name) == value:
                continue
            told = len(self._changes)
            try:
                self.session.change(name, value)
            except (Refused, SettingError) as refused:
                return str(refused)
            self._wait(lambda told=told: len(self._changes) > told, CHANGE_TIMEOUT_S, f"{name} {value}")  # type: ignore[misc]
            outcome = self._changes[told]
            if not outcome.ok:
                return outcome.error or "it failed"
        return None

    def measure(self, samples: int = SAMPLES) -> list[Sample]:
        """The next steady samples under the settings in force, at least so many."""
        begin = len(self._samples)

        def enough() -> bool:
            return len(self._steady_since(begin)) >= samples

        self._wait(enough, STEADY_TIMEOUT_S, "a steady rate")
        return self._steady_since(begin)

    def let_run(self, seconds: float) -> None:
        """Only train for so long."""
        until = time.monotonic() + seconds
        self._wait(lambda: time.monotonic() >= until, seconds + STEADY_TIMEOUT_S, "time to pass")

    def _steady_since(self, begin: int) -> list[Sample]:
        now = self.session.settings
        return [
            each
            for each in self._samples[begin:]
            if each.steady and each.samples_per_s is not None and each.settings == now
        ]

    def _wait(self, done: Callable[[], bool], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while True:
            over = self.session.wait(LOOK_S)
            self._pull()
            if done():
                return
            if self._interrupted():
                raise KeyboardInterrupt
            if over or self.session.state in ("died", "finished"):
                raise MeasureError(self.session.reason or "training ended early", self.session.usage_error)
            if time.monotonic() > deadline:
                raise MeasureError(f"waited {timeout_s:.0f} s in vain for {what}")

    def _pull(self) -> None:
        entries, after = self.session.read(self._position)
        first, self._position = after - len(entries), after
        for entry in entries:
            if isinstance(entry, Sample):
                self._samples.append(entry)
            elif isinstance(entry, Change):
                self._changes.append(entry)
        if entries:
            self._on_entries(first, entries)


def rate_of(samples: Sequence[Sample]) -> Rate:
    """Median and quartiles of the samples' rates; there is at least one."""
    rate = rate_in([each.samples_per_s for each in samples])
    assert rate is not None
    return rate


def step_ms_of(samples: Sequence[Sample]) -> float:
    """Mean wall time of a step, the median over samples: every step counts, not only instrumented ones."""
    return median(1e3 / each.steps_per_s for each in samples if each.steps_per_s)
