"""Changing settings of a session: effects, refusals, undoing, pausing."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_session import (
    Clock,
    Start,
    change_and_wait,
    changes,
    effects,
    entries,
    messages,
    recorded,
    wait_for_changes,
)
from fake_worker import BEGAN, SILENT_BELOW, TOO_LARGE, fake_worker, tiny_preset, until
from gputrain_runner.feed import Refused
from gputrain_runner.options import SessionOptions
from gputrain_runner.protocol import ScheduledChange
from gputrain_runner.session import Session
from gputrain_runner.settings import Settings


def test_a_change_and_its_effect(start: Start, clock: Clock) -> None:
    session = start()
    clock.now = BEGAN + 3.75
    change = change_and_wait(session, "batch_size", 2048)
    assert (change.from_, change.to, change.ok) == (1024, 2048, True)
    assert change.t == pytest.approx(3.75, abs=1e-3)
    assert change.applied_in_ms == pytest.approx(20.0)
    until(lambda: bool(effects(session)))
    [effect] = effects(session)
    assert entries(session)[effect.change] == change
    assert effect.ratio == pytest.approx(2.0, rel=0.02)
    assert session.settings.batch_size == 2048


def test_a_change_that_cannot_work_is_told_and_training_goes_on(start: Start) -> None:
    session = start()
    change = change_and_wait(session, "batch_size", TOO_LARGE)
    assert (change.ok, change.error) == (False, "out of memory: needs another 160 GB, 139 GB are free")
    assert session.settings.batch_size == 1024 and session.state == "running"
    assert change_and_wait(session, "batch_size", 2048).from_ == 1024
    until(lambda: bool(effects(session)))
    assert entries(session)[effects(session)[0].change] == changes(session)[-1]


def test_a_new_model_is_said_to_be_one(start: Start) -> None:
    session = start()
    change_and_wait(session, "model_size", "large")
    until(lambda: "model size small → large: a new model, the loss starts over" in messages(session))


def test_a_quick_chain_is_one_effect(start: Start) -> None:
    session = start()
    for batch_size in (SILENT_BELOW - 1, SILENT_BELOW - 2, 4096):
        change_and_wait(session, "batch_size", batch_size)
    until(lambda: bool(effects(session)))
    [effect] = effects(session)
    assert effect.since is not None
    assert entries(session)[effect.since] == changes(session)[0]
    assert entries(session)[effect.change] == changes(session)[-1]
    assert effect.ratio == pytest.approx(4.0, rel=0.02)


@pytest.mark.parametrize(
    ("setting", "to", "why"),
    [
        ("batch_size", 1024, "batch size is 1024 already"),
        ("batch_size", 0, "batch_size: found '0', allowed: a whole number from 1 to 1,000,000"),
        ("batch_size", 1_000_001, "the training samples there are"),
        ("device", "cuda:0", "device: found 'cuda:0', allowed: cpu"),
        ("model_size", "huge", "model_size: found 'huge', allowed: small, large"),
        ("colour", "red", "no setting is called 'colour'"),
    ],
)
def test_changes_that_are_refused_at_once(start: Start, setting: str, to: str | int, why: str) -> None:
    session = start()
    with pytest.raises(Refused, match=why):
        session.change(setting, to)
    assert changes(session) == []


def test_a_change_on_its_way_is_not_asked_for_twice(start: Start) -> None:
    session = start("--deaf")
    session.change("batch_size", 2048)
    with pytest.raises(Refused, match="batch size 2048 is on its way"):
        session.change("batch_size", 2048)
    session.change("batch_size", 1024)


def test_a_change_before_the_start_is_what_it_starts_with(clock: Clock, tmp_path: Path) -> None:
    options = SessionOptions(preset=tiny_preset(), record=tmp_path / "x.json")
    session = Session(options, spawn=fake_worker("--devices", "cuda:0,cpu"), clock=clock)
    session.change("batch_size", 512)
    session.change("device", "cpu")
    with pytest.raises(Refused, match="nothing to undo"):
        session.undo()
    with pytest.raises(Refused, match="not begun"):
        session.pause()
    session.start()
    until(lambda: session.state == "running")
    session.stop()
    document = recorded(tmp_path / "x.json")
    assert document["session"]["settings"]["batch_size"] == 512
    assert document["session"]["settings"]["device"] == "cpu"
    assert changes(session) == []


def test_undo_goes_back_one_change_at_a_time(start: Start) -> None:
    scheduled = [ScheduledChange(step=150, setting="batch_size", to=2048)]
    session = start(scheduled=scheduled)
    until(lambda: len(changes(session)) == 1)
    change_and_wait(session, "model_size", "large")
    change_and_wait(session, "batch_size", TOO_LARGE)
    for count, (setting, to) in enumerate([("model_size", "small"), ("batch_size", 1024)], start=4):
        session.undo()
        wait_for_changes(session, count)
        assert (changes(session)[-1].setting, changes(session)[-1].to) == (setting, to)
    with pytest.raises(Refused, match="nothing to undo"):
        session.undo()
    assert session.settings == Settings(device="cpu", batch_size=1024, model_size="small", threads=2)


def test_undo_reverses_what_is_still_on_its_way(start: Start) -> None:
    session = start()
    session.change("batch_size", 2048)
    session.change("batch_size", 4096)
    session.undo()
    session.undo()
    until(lambda: len(changes(session)) == 4)
    assert [change.to for change in changes(session)] == [2048, 4096, 2048, 1024]


def test_pause_and_go_on(start: Start) -> None:
    session = start()
    with pytest.raises(Refused, match="not paused"):
        session.resume()
    session.pause()
    until(lambda: session.state == "paused")
    with pytest.raises(Refused, match="paused already"):
        session.pause()
    assert change_and_wait(session, "batch_size", 2048).ok
    session.resume()
    until(lambda: session.state == "running")
    assert messages(session)[-2:] == ["paused at step 150", "going on"]
