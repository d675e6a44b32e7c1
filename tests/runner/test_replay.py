"""A recording played as a feed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs, to_builtins

import gputrain_presets
from fake_session import Clock
from gputrain_runner.feed import Refused
from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.replay import Replay, open_replay
from gputrain_runner.settings import initial
from gputrain_runner.timeline import Change, Effect, Entry, Header, Host, Rate, Sample, SessionInfo
from timelines import change, message, sample, summary

PRESET = gputrain_presets.load("lasagne-mlp")
SETTINGS = initial(PRESET, "cpu")
RATE = Rate(samples_per_s=1000.0, q25=900.0, q75=1100.0, samples=9)


def header() -> Header:
    return Header(
        session=SessionInfo(
            id="1",
            started_at="2026-11-30T10:12:05.000+00:00",
            preset=to_builtins(PRESET),
            settings=SETTINGS,
            command=["gputrain-tui"],
        ),
        host=Host(os="Linux", cpu=None, cores=2, memory_bytes=1, python="3.11.7", over_ssh=False),
    )


def state_of(replay: Replay) -> str:
    """The state now; asked for by a call, since it changes without one."""
    return replay.state


def entries(seconds: float) -> list[Entry]:
    """Four samples a second, and a change with its effect and a message halfway."""
    told: list[Entry] = []
    settings = SETTINGS
    for number in range(1, round(seconds * 4) + 1):
        t = number / 4
        told.append(structs.replace(sample(t), settings=settings))
        if number == round(seconds * 2):
            settings = structs.replace(SETTINGS, batch_size=2048)
            told.append(change(t))
            place = len(told) - 1
            told.append(structs.replace(message(t, "compiled"), change=place))
            told.append(
                Effect(t=t, change=place, before=RATE, after=RATE, ratio=1.0, ratio_low=0.9, ratio_high=1.1)
            )
    return told


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.json"
    recorder = Recorder(path, header())
    for position, entry in enumerate(entries(10)):
        recorder.write(position, entry)
    recorder.complete(summary())
    return path


def test_it_tells_what_was_up_to_the_time_shown(path: Path) -> None:
    clock = Clock()
    replay = Replay(RecordingFile(path), clock=clock)
    assert state_of(replay) == "running" and replay.read(0)[0] == []
    clock.now += 2.0
    told, after = replay.read(0)
    assert [entry.t for entry in told] == [0.25 * number for number in range(1, 9)]
    assert replay.elapsed_s == pytest.approx(2.0) and replay.settings == SETTINGS
    clock.now += 4.0
    more, after = replay.read(after)
    assert any(isinstance(entry, Change) for entry in more)
    assert replay.settings.batch_size == 2048
    clock.now += 100.0
    told, _ = replay.read(0)
    assert told == entries(10)
    assert state_of(replay) == "finished" and replay.elapsed_s == 10.0


def test_held_it_stands_still_and_goes_on_from_there(path: Path) -> None:
    clock = Clock()
    replay = Replay(RecordingFile(path), clock=clock)
    clock.now += 1.0
    replay.pause()
    clock.now += 5.0
    assert state_of(replay) == "paused" and replay.elapsed_s == pytest.approx(1.0)
    replay.resume()
    clock.now += 1.0
    assert state_of(replay) == "running" and replay.elapsed_s == pytest.approx(2.0)


def test_the_speed_turns(path: Path) -> None:
    clock = Clock()
    replay = Replay(RecordingFile(path), clock=clock)
    clock.now += 1.0
    assert replay.turn_speed(True) == 2.0
    clock.now += 1.0
    assert replay.elapsed_s == pytest.approx(3.0)
    for _ in range(20):
        replay.turn_speed(False)
    assert replay.speed == 0.25


def test_it_jumps_to_changes_and_to_the_end(path: Path) -> None:
    clock = Clock()
    replay = Replay(RecordingFile(path), clock=clock)
    assert replay.change_before() is None
    found = replay.change_after()
    assert found == 5.0
    replay.jump_ahead(found)
    assert any(isinstance(entry, Change) for entry in replay.read(0)[0])
    assert replay.change_after() is None
    replay.jump_to_end()
    replay.read(0)
    assert state_of(replay) == "finished" and replay.change_before() == 5.0
    again = Replay(RecordingFile(path), 2.0, clock=clock)
    assert [entry.t for entry in again.read(0)[0]][-1] == 2.0


def test_effects_point_at_their_change_where_samples_were_left_out(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    recorder = Recorder(path, header())
    for position, entry in enumerate(entries(6000)):
        recorder.write(position, entry)
    recorder.complete(summary())
    replay = Replay(RecordingFile(path), 6000.0, clock=Clock())
    told, after = replay.read(0)
    assert len(told) < 10_000
    first = after - len(told)
    effect = next(entry for entry in told if isinstance(entry, Effect))
    assert isinstance(told[effect.change - first], Change)
    assert sum(isinstance(entry, Sample) for entry in told) > 1000


def test_a_growing_recording_is_followed(tmp_path: Path) -> None:
    path, clock = tmp_path / "x.json", Clock()
    recorder = Recorder(path, header())
    told = entries(10)
    for position, entry in enumerate(told[:8]):
        recorder.write(position, entry)
    replay = open_replay(path)
    assert replay.following and state_of(replay) == "running"
    replay = Replay(RecordingFile(path), follow=True, clock=clock)
    seen, after = replay.read(0)
    assert len(seen) == 8
    for position, entry in enumerate(told[8:], start=8):
        recorder.write(position, entry)
    clock.now += 0.5
    more, after = replay.read(after)
    assert list(more) == told[8:]
    assert state_of(replay) == "running"
    recorder.complete(summary())
    clock.now += 0.5
    replay.read(after)
    assert state_of(replay) == "finished"


def test_what_acts_on_training_is_refused(path: Path) -> None:
    replay = Replay(RecordingFile(path))
    for act in (
        lambda: replay.change("batch_size", 8),
        replay.undo,
        replay.restart,
        replay.probe,
        replay.start_recording,
        replay.stop_recording,
    ):
        with pytest.raises(Refused, match="this is a recording"):
            act()
