"""The recordings and the sweep by their keys from every screen: what is safe is done, or it says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from fake_feed import FakeSession, FakeSessions
from gputrain_runner.feed import State
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.recordings import RecordingsScreen
from gputrain_tui.screens.replay import ReplayScreen
from gputrain_tui.screens.sweep_setup import SweepSetupScreen
from gputrain_tui.screens.training import TrainingScreen
from recorded_session import replaying, written
from screen_text import screen_text, training

NOT_NOW = "a sweep needs the machine to itself: end this training (esc), then ctrl+s"


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def places_of(app: App[None]) -> list[type]:
    return [type(screen) for screen in app.screen_stack]


async def pressed(pilot: Pilot[None], *keys: str) -> str:
    """The screen's text after these keys."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    return screen_text(pilot.app)


async def test_recordings_are_listed_over_a_training_that_goes_on() -> None:
    session = FakeSession()
    session.run(4)
    app = GpuTrainApp(FakeSessions(), session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("g", "ctrl+o")
        await pilot.pause()
        assert isinstance(app.screen, RecordingsScreen)
        below = app.screen_stack[1]
        assert isinstance(below, TrainingScreen)
        session.run(1)
        session.say("the loader's workers were started anew", "warning")
        below.pull()
        await pilot.pause()
        assert below.history.latest is not None and below.history.latest.t == 5.0
        assert "the training below: the loader's workers" in screen_text(app)
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert "these are the recordings" in screen_text(app)
        await pilot.press("escape", "escape")
        await pilot.pause()
        assert places_of(app) == [PickerScreen, TrainingScreen]
        assert session.calls == []


async def test_a_recording_is_replayed_over_a_training_and_left_for_it(state_home: Path) -> None:
    recorded = FakeSession()
    recorded.run(8)
    folder = state_home / "gputrain-tui" / "sessions"
    folder.mkdir(parents=True)
    written(recorded, folder / "x.json")
    session = FakeSession("keras-mnist-mlp")
    session.run(4)
    app = GpuTrainApp(FakeSessions(), session)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+o")
        for _ in range(100):
            await pilot.pause(0.02)
            if "lasagne-mlp" in screen_text(app):
                break
        await pressed(pilot, "enter")
        assert places_of(app) == [PickerScreen, TrainingScreen, RecordingsScreen, ReplayScreen]
        assert NOT_NOW in await pressed(pilot, "ctrl+s")
        await pressed(pilot, "ctrl+o")
        assert places_of(app) == [PickerScreen, TrainingScreen, RecordingsScreen]
        await pressed(pilot, "escape")
        assert "keras-mnist-mlp" in screen_text(app)


@pytest.mark.parametrize("above", [(), ("g",), ("v",), ("ctrl+o",)])
async def test_a_sweep_beside_a_training_is_refused_with_what_to_do(above: tuple[str, ...]) -> None:
    async with training(FakeSession(), (80, 24)) as pilot:
        before = await pressed(pilot, *above)
        assert NOT_NOW not in before
        places = [type(screen) for screen in pilot.app.screen_stack]
        assert NOT_NOW in await pressed(pilot, "ctrl+s")
        assert [type(screen) for screen in pilot.app.screen_stack] == places


@pytest.mark.parametrize("state", ["died", "finished"])
async def test_a_training_that_is_over_is_left_for_a_sweep(state: State) -> None:
    session = FakeSession()
    session.state = state
    async with GpuTrainApp(FakeSessions(), session).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "a sweep begins at the presets: esc leads there" in await pressed(pilot, "ctrl+s")
        await pressed(pilot, "escape", "ctrl+s")
        assert isinstance(pilot.app.screen, SweepSetupScreen)


async def test_a_sweep_is_begun_from_the_recordings_and_from_one_of_them(tmp_path: Path) -> None:
    session = FakeSession()
    session.run(8)
    async with replaying(session, tmp_path / "x.json") as pilot:
        assert places_of(pilot.app) == [PickerScreen, ReplayScreen]
        await pressed(pilot, "ctrl+s")
        assert places_of(pilot.app) == [PickerScreen, SweepSetupScreen]
        assert "what to measure is being chosen already" in await pressed(pilot, "ctrl+s")
        assert "esc leads back there" in await pressed(pilot, "ctrl+o", "ctrl+s")
        await pressed(pilot, "escape", "escape", "ctrl+o", "ctrl+s")
        assert places_of(pilot.app) == [PickerScreen, SweepSetupScreen]


async def test_a_preset_from_the_palette_leaves_nothing_of_the_training_before() -> None:
    sessions = FakeSessions()
    app = GpuTrainApp(sessions, FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pressed(pilot, "g")
        app.train(FakeSession("keras-mnist-mlp").preset)
        await pilot.pause()
        assert places_of(app) == [PickerScreen, TrainingScreen]
        await pressed(pilot, "escape")
        assert places_of(app) == [PickerScreen]


async def test_the_first_screen_offers_both() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        keys = screen_text(pilot.app).splitlines()[-1]
        assert "ctrl+o recordings" in keys and "ctrl+s sweep" in keys
