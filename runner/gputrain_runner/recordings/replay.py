"""A recording as a feed: played from its beginning, or followed while another process writes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from gputrain_presets import Preset, PresetError, load

from ..feed import Control, Feed, Refused, State, Timeline
from ..settings import Context, Settings, Value
from ..timeline import Change, Effect, Entry, Header, Message, Sample
from .reader import RecordingFile, UnreadableError, is_fresh

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MOST_SAMPLES = 4800
"""Of a stretch that is jumped over at most so many samples are read; every change is."""
_CATCH_UP_S = 0.2
"""How often a growing file is looked at."""


class Replay(Feed, Control):
    """A recording as the screens know it, and how it is played. Used by one thread.

    What acts on training is refused; `pause` and `resume` hold and go on playing. Going back in time takes
    a new one, begun at that time: what a screen has been told cannot be untold.
    """

    def __init__(
        self,
        recording: RecordingFile,
        at_s: float = 0.0,
        *,
        follow: bool = False,
        speed: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin at `at_s`, everything before it told; `follow` begins at the end and stays there."""
        self._file = recording
        self._clock = clock
        self._timeline = Timeline()
        self._next = 0
        """The first entry of the file that is not told."""
        self._places: dict[int, int] = {}
        """Where a change of the file is in the timeline told."""
        self._settings = recording.header.session.settings
        self._preset = _preset(recording)
        self.speed = speed
        self.following = follow
        self._paused = False
        self._since = clock()
        self._from_s = 0.0
        self._looked = clock()
        self._wants_end = False
        self._tell_until(self.length_s if follow else at_s, thin=True)
        self._from_s = self.length_s if follow else at_s

    @property
    def path(self) -> Path:
        """The file that is played."""
        return self._file.path

    @property
    def file(self) -> RecordingFile:
        """The same, open."""
        return self._file

    @property
    def length_s(self) -> float:
        """The time of the last entry there is."""
        return self._file.time(len(self._file) - 1) if len(self._file) else 0.0

    @property
    def at_s(self) -> float:
        """The time that is shown."""
        if self.following:
            return self.length_s
        passed = 0.0 if self._paused else (self._clock() - self._since) * self.speed
        return min(self.length_s, self._from_s + passed)

    # ---------------------------------------------------------------- the feed

    @property
    def header(self) -> Header:
        """As recorded."""
        return self._file.header

    @property
    def state(self) -> State:
        """Running while it plays or the file grows, paused when held, finished at the end."""
        if self._paused:
            return "paused"
        ended = self._next >= len(self._file)
        if self.following:
            return "finished" if ended and self._file.summary is not None else "running"
        return "finished" if ended and self._from_end() else "running"

    @property
    def reason(self) -> str | None:
        """Why the session ended, where it failed."""
        summary = self._file.summary
        return self._file.damage or (None if summary is None else summary.error)

    @property
    def log_tail(self) -> Sequence[str]:
        """Nothing: a recording has no log."""
        return ()

    @property
    def settings(self) -> Settings:
        """Those in force at the time shown."""
        return self._settings

    @property
    def context(self) -> Context:
        """The recorded devices; nothing can be turned."""
        return Context(self._preset, [device.device for device in self.header.devices])

    @property
    def elapsed_s(self) -> float:
        """The time that is shown."""
        return self.at_s

    @property
    def recording(self) -> Path | None:
        """None: nothing is written."""
        return None

    @property
    def gpu_absence(self) -> str | None:
        """None: what is not in the recording was not there."""
        return None

    @property
    def training_gpu(self) -> str | None:
        """UUID of the GPU that trained at the time shown; None on a CPU."""
        device = self._settings.device
        return next((known.uuid for known in self.header.devices if known.device == device), None)

    def read(self, position: int) -> tuple[Sequence[Entry], int]:
        """What has been told up to the time shown, from `position` on."""
        self._look()
        self._tell_until(self.at_s, thin=self._wants_end)
        self._wants_end = False
        return self._timeline.read(position)

    # ------------------------------------------------------------- the control

    def pause(self) -> None:
        """Hold."""
        self._hold_time()
        self._paused = True
        self.following = False

    def resume(self) -> None:
        """Go on; at the end of a file that still grows, follow it."""
        self._hold_time()
        self._paused = False
        if self._file.summary is None and self._from_end():
            self.following = True

    def turn_speed(self, up: bool) -> float:
        """Play faster or slower; the speed now."""
        self._hold_time()
        at = min(range(len(SPEEDS)), key=lambda number: abs(SPEEDS[number] - self.speed))
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, at + (1 if up else -1)))]
        return self.speed

    def jump_to_end(self) -> None:
        """Show everything there is, and follow a file that still grows."""
        self._from_s, self._since = self.length_s, self._clock()
        self._wants_end = True
        self._paused = False
        self.following = self._file.summary is None

    def change_after(self) -> float | None:
        """The time of the next change, or of what is told of it; None where there is none."""
        return self._change_time(range(len(self._file)), lambda t: t > self.at_s + 1e-9)

    def change_before(self) -> float | None:
        """The time of the change before the one that was last shown, a moment ahead of it."""
        return self._change_time(range(len(self._file) - 1, -1, -1), lambda t: t < self.at_s - 3.0)

    def jump_ahead(self, to_s: float) -> None:
        """Go to a later time."""
        self._from_s, self._since = max(self.at_s, to_s), self._clock()
        self.following = False
        self._wants_end = True

    def change(self, setting: str, to: Value) -> None:
        """Refused."""
        raise Refused(f"this is a recording: {setting} was what it was")

    def undo(self) -> tuple[str, Value] | None:
        """Refused."""
        raise Refused("this is a recording: nothing in it can be undone")

    def restart(self) -> None:
        """Refused."""
        raise Refused("this is a recording: esc, and enter on a preset, trains")

    def probe(self) -> None:
        """Refused."""
        raise Refused("this is a recording: its probe, if there is one, is in the help")

    def start_recording(self) -> Path:
        """Refused."""
        raise Refused(f"this is a recording already: {self.path}")

    def stop_recording(self) -> None:
        """Refused."""
        raise Refused(f"this is a recording already: {self.path}")

    # ------------------------------------------------------------------ inside

    def _from_end(self) -> bool:
        return self.at_s >= self.length_s

    def _hold_time(self) -> None:
        self._from_s, self._since = self.at_s, self._clock()

    def _look(self) -> None:
        """Take in what another process has written since."""
        now = self._clock()
        if self._file.summary is not None or now - self._looked < _CATCH_UP_S:
            return
        self._looked = now
        at_end = self._from_end() and not self._paused
        try:
            self._file.refresh()
        except UnreadableError:
            return  # Gone or replaced: what was read stays.
        if at_end and not self.following:
            self.following = True

    def _tell_until(self, t: float, thin: bool) -> None:
        """Tell every entry up to that time; of a long stretch not every sample."""
        last = self._next
        while last < len(self._file) and self._file.time(last) <= t:
            last += 1
        step = max(1, (last - self._next) // MOST_SAMPLES) if thin else 1
        for number in range(self._next, last):
            kept = number % step == 0 or last - number < MOST_SAMPLES // 4
            if not kept and self._file.kind(number) == "sample":
                continue
            entry = self._file.entry(number)
            if entry is not None:
                self._tell(number, entry)
        self._next = max(self._next, last)

    def _tell(self, number: int, entry: Entry) -> None:
        if isinstance(entry, Sample):
            self._settings = entry.settings
        elif isinstance(entry, Effect):
            since = None if entry.since is None else self._places.get(entry.since)
            entry = structs.replace(entry, change=self._places.get(entry.change, 0), since=since)
        elif isinstance(entry, Message) and entry.change is not None:
            entry = structs.replace(entry, change=self._places.get(entry.change))
        place = self._timeline.append(entry)
        if isinstance(entry, Change):
            self._places[number] = place
            if entry.ok:
                self._settings = self._settings.with_value(entry.setting, entry.to)

    def _change_time(self, numbers: range, wanted: Callable[[float], bool]) -> float | None:
        for number in numbers:
            if self._file.kind(number) == "change" and wanted(self._file.time(number)):
                return self._file.time(number)
        return None


def open_replay(path: Path, *, follow: bool | None = None) -> Replay:
    """The replay of a file: followed where it still grows (or `follow` says so), else from its beginning.

    Raises:
        UnreadableError: the file is no recording.
    """
    recording = RecordingFile(path)
    growing = recording.summary is None and recording.damage is None and is_fresh(path)
    return Replay(recording, follow=growing if follow is None else follow)


def _preset(recording: RecordingFile) -> Preset:
    """The preset as recorded, a user's own too; where another version wrote it, the one of that name here."""
    told = recording.header.session.preset
    try:
        return msgspec.convert(told, Preset)
    except msgspec.ValidationError as error:
        try:
            return load(str(told.get("name")))
        except PresetError:
            raise UnreadableError(f"{recording.path}: its preset is not understood: {error}") from None
