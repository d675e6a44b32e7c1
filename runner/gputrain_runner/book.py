"""The session's book: its header and timeline, the effects told from it, and its recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import structs

from .diagnosis import DiagnosisWatch
from .effect import EffectWatch
from .feed import Timeline
from .recorder import Recorder, RecordingError
from .settings import Settings
from .summary import Ended, Totals
from .timeline import Effect, Entry, Header, Level, Message, Summary


class Book:
    """Everything that is shown and recorded goes through here, in order.

    Not safe for threads by itself, apart from `read`: its session guards it with a lock.

    Args:
        header: as far as it is known.
        elapsed_s: seconds since the session began.
    """

    def __init__(self, header: Header, elapsed_s: Callable[[], float]) -> None:
        self.header = header
        self.totals = Totals()
        self.elapsed_s = elapsed_s
        self._timeline = Timeline()
        self._effects = EffectWatch()
        self._diagnosis = DiagnosisWatch(lambda: self.header)
        self._recorder: Recorder | None = None
        self._t = 0.0
        """When the newest entry was."""

    @property
    def recording(self) -> Path | None:
        """The file being written."""
        return self._recorder.path if self._recorder is not None else None

    def read(self, position: int) -> tuple[Sequence[Entry], int]:
        """The entries held from `position` on, and the next position."""
        return self._timeline.read(position)

    def add(self, entry: Entry) -> None:
        """Append an entry, and the effect and the verdict that come of it.

        Times never fall along the timeline: the worker tells some things late, a change only when it is
        made, and such an entry takes the time of the one before it.
        """
        self._t = max(self._t, entry.t)
        if entry.t < self._t:
            entry = structs.replace(entry, t=self._t)
        position = self._timeline.append(entry)
        self.totals.note(entry)
        self._write(lambda recorder: recorder.write(position, entry))
        effect = self._effects.feed(position, entry)
        if isinstance(effect, Effect):
            effect = self._diagnosis.complete(effect)
        verdict = self._diagnosis.feed(position, entry)
        for told in (effect, verdict):
            if told is not None:
                self.add(told)

    def say(self, level: Level, text: str, t: float | None = None) -> None:
        """Append a message, at `t` or now."""
        self.add(Message(t=self.elapsed_s() if t is None else t, level=level, text=text))

    def revise(self, header: Header) -> None:
        """Take a header in which more is known."""
        if header != self.header:
            self.header = header
            self._write(lambda recorder: recorder.update_header(header))

    def settle_effects(self) -> None:
        """Tell the pending effect with what there is; what comes next is compared with nothing before."""
        told = self._effects.flush()
        self._effects.reset()
        if isinstance(told, Effect):
            told = self._diagnosis.complete(told)
        self._diagnosis.reset()
        if told is not None:
            self.add(told)

    def record(self, path: Path) -> None:
        """Write everything held, and all that comes, to a new file.

        Raises:
            RecordingError: the file cannot be created.
        """
        recorder = Recorder(path, self.header)
        try:
            for position, entry in self._timeline.held():
                recorder.write(position, entry)
        except RecordingError:
            path.unlink(missing_ok=True)
            raise
        self._recorder = recorder

    def complete_recording(self, summary: Summary) -> Path | None:
        """Close the recording with this summary; its file, None where there is none."""
        self._write(lambda recorder: recorder.complete(summary))
        path, self._recorder = self.recording, None
        return path

    def summary(self, ended: Ended, error: str | None, settings: Settings) -> Summary:
        """The summary as of now; `settings` are those in force."""
        held = [entry for _, entry in self._timeline.held()]
        return self.totals.summary(ended, error, self.elapsed_s(), settings, held)

    def _write(self, write: Callable[[Recorder], None]) -> None:
        """Do something to the recording; where that fails the session goes on without one."""
        if self._recorder is None:
            return
        try:
            write(self._recorder)
        except RecordingError as error:
            self._recorder = None
            self.say("error", str(error))
