"""What a live session shows: the feed that is read from its book, its training and its telemetry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from . import samples
from .book import Book
from .feed import Feed, State
from .process import WorkerProcess
from .samples import TelemetrySource
from .settings import Context, Settings
from .telemetry.reading import Reading
from .timeline import Entry, Header
from .training import Training


class LiveFeed(Feed):
    """The feed of a live session. Takes no lock: nothing that is slow can hold up a screen."""

    _book: Book
    _training: Training
    _worker: WorkerProcess

    def __init__(self, telemetry: TelemetrySource | None, clock: Callable[[], float]) -> None:
        self._telemetry = telemetry
        self._clock = clock
        self._began = clock()
        self._ended_at: float | None = None

    @property
    def header(self) -> Header:
        """Session, host and devices as far as they are known."""
        return self._book.header

    @property
    def state(self) -> State:
        """What the training does now."""
        return self._training.state

    @property
    def reason(self) -> str | None:
        """Why it died, in one line; None while it lives."""
        return self._training.reason

    @property
    def usage_error(self) -> bool:
        """Whether it died of what the command line or a file says, rather than in the run."""
        return self._training.usage_error

    @property
    def awaits_worker(self) -> bool:
        """Whether the worker has yet to be told what to train: it loads PyTorch."""
        return self._training.state == "starting" and not self._training.started

    @property
    def log_tail(self) -> Sequence[str]:
        """The last lines the worker said on its own."""
        return self._worker.log_tail()

    @property
    def settings(self) -> Settings:
        """The settings in force now; the device is "auto" until it is known."""
        return self._training.settings

    @property
    def context(self) -> Context:
        """What the settings' allowed values depend on, as far as it is known."""
        return self._training.context

    @property
    def elapsed_s(self) -> float:
        """Seconds since the session began (until it ended)."""
        ended_at = self._ended_at
        return (self._clock() if ended_at is None else ended_at) - self._began

    @property
    def recording(self) -> Path | None:
        """The file that is being written; None when none is."""
        return self._book.recording

    @property
    def gpu_absence(self) -> str | None:
        """Why there is no GPU telemetry, in one line; None where there is some or it is not known yet."""
        return self._latest().gpu_absence

    @property
    def training_gpu(self) -> str | None:
        """UUID of the GPU that trains; None on a CPU."""
        device = self.settings.device
        return next((known.uuid for known in self.header.devices if known.device == device), None)

    def read(self, position: int) -> tuple[Sequence[Entry], int]:
        """The timeline's entries from `position` on that are still held, and the next position."""
        return self._book.read(position)

    def _latest(self) -> Reading:
        return samples.NOTHING if self._telemetry is None else self._telemetry.latest()
