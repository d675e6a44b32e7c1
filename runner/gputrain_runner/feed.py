"""The one door to all that is shown: what a session tells, and how it is acted upon.

A live session, a replayed recording and a list in a test are feeds; the screens and the recorder
cannot tell them apart. Nothing here knows of workers, files or screens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Literal, Protocol

from .settings import Context, Settings, Value
from .timeline import Entry, Header, Sample

State = Literal["starting", "running", "paused", "finished", "died"]


class Refused(Exception):  # noqa: N818 - it is an answer, not a fault
    """An action that cannot be done now; the text is one line for the user."""


class Feed(Protocol):
    """What a screen may know. Safe to read from any thread; never blocks on a worker or a driver."""

    @property
    def header(self) -> Header:
        """Session, host and devices as far as they are known."""

    @property
    def state(self) -> State:
        """What the training does now."""

    @property
    def reason(self) -> str | None:
        """Why it died, in one line; None while it lives."""

    @property
    def log_tail(self) -> Sequence[str]:
        """The last lines the worker said on its own, for when it died."""

    @property
    def settings(self) -> Settings:
        """The settings in force now."""

    @property
    def context(self) -> Context:
        """What the settings' allowed values depend on, as far as it is known."""

    @property
    def elapsed_s(self) -> float:
        """Seconds since the session began (until it ended)."""

    @property
    def recording(self) -> Path | None:
        """The file that is being written; None when none is."""

    @property
    def gpu_absence(self) -> str | None:
        """Why there is no GPU telemetry, in one line; None where there is some or it is not known yet."""

    @property
    def training_gpu(self) -> str | None:
        """UUID of the GPU that trains; None on a CPU."""

    def read(self, position: int) -> tuple[Sequence[Entry], int]:
        """The timeline's entries from `position` on that are still held, and the next position."""


class Control(Protocol):
    """What a screen may do. Every call returns at once; what came of it arrives in the feed."""

    def change(self, setting: str, to: Value) -> None:
        """Ask for a setting to be changed before the next step."""

    def undo(self) -> tuple[str, Value] | None:
        """Ask for the last change that worked to be reversed: the setting, and what it goes back to."""

    def pause(self) -> None:
        """Stop stepping."""

    def resume(self) -> None:
        """Go on stepping."""

    def restart(self) -> None:
        """Start a new worker with the settings in force."""

    def probe(self) -> None:
        """Measure this machine's ceilings; training waits meanwhile."""

    def start_recording(self) -> Path:
        """Write the session, from its beginning, to a new file in the default place."""

    def stop_recording(self) -> None:
        """Complete the file."""


class Timeline:
    """The bounded store of a session's entries.

    Positions count every entry ever appended. Of more than `max_samples` samples the newest half is held
    whole, and of the older ones every second, fourth, eighth ..., so that what is held always reaches back
    to the beginning. Changes, effects, verdicts and messages are all kept.
    """

    def __init__(self, max_samples: int = 4800) -> None:
        self._max_samples = max_samples
        self._entries: list[_Held] = []
        self._samples = 0
        """Samples held that may go."""
        self._seen = 0
        """Such samples ever appended."""
        self._stride = 1
        self._next = 0
        self._lock = Lock()

    def append(self, entry: Entry) -> int:
        """Add an entry; its position."""
        with self._lock:
            position = self._next
            self._next += 1
            number = None
            if isinstance(entry, Sample):
                number = self._seen
                self._seen += 1
                self._samples += 1
            self._entries.append((position, number, entry))
            if self._samples > self._max_samples:
                self._thin()
            return position

    def read(self, position: int) -> tuple[list[Entry], int]:
        """The entries held from `position` on, and the position after the last."""
        with self._lock:
            first = bisect_left(self._entries, position, key=itemgetter(0))
            return [entry for _, _, entry in self._entries[first:]], self._next

    def held(self) -> list[tuple[int, Entry]]:
        """Everything held, with positions."""
        with self._lock:
            return [(position, entry) for position, _, entry in self._entries]

    def _thin(self) -> None:
        """Make room for a while: a quarter of all samples."""
        newest = self._seen - self._max_samples // 2
        while self._samples > self._max_samples * 3 // 4 and self._stride < self._seen:
            self._entries = [
                held
                for held in self._entries
                if held[1] is None or held[1] >= newest or held[1] % self._stride == 0
            ]
            self._samples = sum(held[1] is not None for held in self._entries)
            if self._samples > self._max_samples * 3 // 4:
                self._stride *= 2


_Held = tuple[int, int | None, Entry]
"""Position, the running number where it is a sample that may go, and the entry."""
