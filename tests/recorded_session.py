"""A fake session's timeline as a recording, opened as a replay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from fake_feed import FakeSession, FakeSessions
from fake_session import Clock
from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.replay import Replay
from gputrain_tui.app import GpuTrainApp
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


@asynccontextmanager
async def replaying(
    session: FakeSession, path: Path, at_s: float = 0.0, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[None]]:
    """The app over that replay."""
    app = GpuTrainApp(FakeSessions(), replay=replayed(session, path, at_s))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot
