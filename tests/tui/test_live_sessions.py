"""The app's sessions with real workers: what they fall back to, and where they are recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_worker import until
from gputrain_runner.timeline import Message
from gputrain_tui.live_sessions import LiveSessions
from gputrain_tui.sessions import AppOptions
from training_presets import small


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "mine.json"


@pytest.fixture
def sessions(recording: Path) -> Iterator[LiveSessions]:
    made = LiveSessions(AppOptions(device="cuda:77", record=recording))
    yield made
    made.leave("finished")


def test_a_device_that_is_not_there_gives_way_and_each_session_has_its_recording(
    sessions: LiveSessions, recording: Path
) -> None:
    first = sessions.open(small("lasagne-mlp"))
    until(lambda: first.state == "running")
    assert first.settings.device in ("cpu", "cuda:0")
    told = [entry.text for entry in first.read(0)[0] if isinstance(entry, Message)]
    assert told[0].startswith(f"it trains on {first.settings.device}: device: found 'cuda:77', allowed: ")
    assert first.recording == recording

    second = sessions.open(small("lasagne-mlp"))
    assert second.recording == recording.with_name("mine-2.json")
    third = sessions.open(small("lasagne-mlp"))
    assert third.recording == recording.with_name("mine-3.json")
    sessions.leave("finished")
    assert sessions.recorded == [
        recording,
        recording.with_name("mine-2.json"),
        recording.with_name("mine-3.json"),
    ]
