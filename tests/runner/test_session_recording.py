"""Recordings that are begun and ended amid a session, and what can go wrong with them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fake_session import Start, change_and_wait, effects, messages, recorded, wait_for_effects
from fake_worker import fake_worker, tiny_preset, until
from gputrain_runner.feed import Refused, Timeline
from gputrain_runner.options import SessionOptions
from gputrain_runner.recorder import RecordingError
from gputrain_runner.session import Session


def test_a_recording_begun_amid_the_run_reaches_back_to_its_beginning(start: Start) -> None:
    session = start()
    for batch_size in (2048, 4096):
        change_and_wait(session, "batch_size", batch_size)
    until(lambda: len(effects(session)) == 2)
    path = session.start_recording()
    assert session.recording == path
    with pytest.raises(Refused, match="recording already"):
        session.start_recording()
    change_and_wait(session, "batch_size", 1024)
    until(lambda: len(effects(session)) == 3)
    session.stop_recording()
    assert session.recording is None
    with pytest.raises(Refused, match="nothing is being recorded"):
        session.stop_recording()
    document = recorded(path)
    timeline = document["timeline"]
    of = [timeline[entry["change"]]["to"] for entry in timeline if entry["kind"] == "effect"]
    assert of == [2048, 4096, 1024]
    assert document["summary"]["ended"] == "finished" and document["summary"]["effects"] == 3
    second = session.start_recording()
    assert second != path and second.parent == path.parent
    session.stop()
    assert recorded(second)["summary"]["ended"] == "finished"


def test_effects_are_found_in_a_recording_though_older_samples_are_gone(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gputrain_runner.book.Timeline", lambda: Timeline(max_samples=20))
    session = start("--epoch-steps", "1000000")
    for count, batch_size in enumerate((2048, 4096, 8192), start=1):
        change_and_wait(session, "batch_size", batch_size)
        wait_for_effects(session, count)
    path = session.start_recording()
    session.stop()
    timeline = recorded(path)["timeline"]
    assert sum(entry["kind"] == "sample" for entry in timeline) <= 20
    of = [timeline[entry["change"]]["to"] for entry in timeline if entry["kind"] == "effect"]
    assert of == [2048, 4096, 8192]
    raw = [effect.change for effect in effects(session)]
    assert raw != [entry["change"] for entry in timeline if entry["kind"] == "effect"]


def test_a_recording_that_fails_amid_the_run_is_given_up_and_training_goes_on(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start()
    path = session.start_recording()

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        change_and_wait(session, "batch_size", 2048)
    until(lambda: any("No space left on device" in text for text in messages(session)))
    assert session.recording is None and session.state == "running"
    assert sum("No space left" in text for text in messages(session)) == 1
    assert session.stop().changes == 1
    assert path.exists()


def test_a_default_place_that_cannot_be_used_refuses(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(Refused, match="set XDG_STATE_HOME"):
        session.start_recording()
    assert session.recording is None


def test_a_recording_asked_for_in_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="there is no folder"):
        Session(SessionOptions(preset=tiny_preset(), record=tmp_path / "no" / "x.json"), spawn=fake_worker())
