"""A fake session's timeline as a recording, opened as a replay."""

from __future__ import annotations

from pathlib import Path

from fake_feed import FakeSession
from fake_session import Clock
from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.replay import Replay
from timelines import summary


def written(session: FakeSession, path: Path) -> Path:
    """The file with all that the session has told."""
    recorder = Recorder(path, session.header)
    for position, entry in enumerate(session.read(0)[0]):
        recorder.write(position, entry)
    recorder.complete(summary())
    return path


def replayed(session: FakeSession, path: Path, at_s: float = 0.0) -> Replay:
    """The same as a replay whose time stands still at `at_s`."""
    return Replay(RecordingFile(written(session, path)), at_s, clock=Clock())
