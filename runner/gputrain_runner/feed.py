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

from .settings import Settings, Value
from .timeline import Entry, Header, Sample

State = Literal["starting", "running", "paused", "finished", "died"]


class Refused(Exception):
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

    def undo(self) -> None:
        """Ask for the last change that worked to be reversed."""

    def pause(self) -> None:
        """Stop stepping."""

    def resume(self) -> None:
        """Go on stepping."""

    def restart(self) -> None:
        """Start a new worker with the settings in force."""

    def start_recording(self) -> Path:
        """Write the session, from its beginning, to a new file in the default place."""

    def stop_recording(self) -> None:
        """Complete the file."""


class Timeline:
    """The bounded store of a session's entries.

    Positions count every entry ever appended. When there are more than `max_samples` samples, every
    second one of the older half is let go, so that what is held always reaches back to the beginning,
    the older the thinner. Changes, effects, verdicts, messages and validations are all kept.
    """

    def __init__(self, max_samples: int = 4800) -> None:
        self._max_samples = max_samples
        self._entries: list[tuple[int, Entry]] = []
        self._samples = 0
        self._next = 0
        self._lock = Lock()

    def append(self, entry: Entry) -> int:
        """Add an entry; its position."""
        with self._lock:
            position = self._next
            self._next += 1
            self._entries.append((position, entry))
            if _may_go(entry):
                self._samples += 1
                if self._samples > self._max_samples:
                    self._thin()
            return position

    def read(self, position: int) -> tuple[list[Entry], int]:
        """The entries held from `position` on, and the position after the last."""
        with self._lock:
            first = bisect_left(self._entries, position, key=itemgetter(0))
            return [entry for _, entry in self._entries[first:]], self._next

    def held(self) -> list[tuple[int, Entry]]:
        """Everything held, with positions."""
        with self._lock:
            return list(self._entries)

    def _thin(self) -> None:
        older = self._samples // 2
        seen = 0
        kept: list[tuple[int, Entry]] = []
        for position, entry in self._entries:
            if _may_go(entry):
                seen += 1
                if seen <= older and seen % 2:
                    continue
            kept.append((position, entry))
        self._samples -= (older + 1) // 2
        self._entries = kept


def _may_go(entry: Entry) -> bool:
    return isinstance(entry, Sample) and entry.validation is None
