"""What the training screen answers where a key would lose something, cannot act, or takes its time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_feed import FakeSession, FakeSessions
from gputrain_runner.feed import State
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.training import TrainingScreen
from screen_text import SIZES, look, screen_text, training

LONG_PLACE = Path("/home/somebody/.local/state/gputrain-tui/sessions/2026-11-30T10-12-00-lasagne-mlp.json")


@pytest.mark.parametrize("size", SIZES)
async def test_a_long_path_gives_way_in_its_middle_and_keeps_the_files_name(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(1)
    async with training(session, size) as pilot:
        session.recording = LONG_PLACE
        await pilot.press("c")
        await pilot.pause()
        rows = screen_text(pilot.app).splitlines()
        (row,) = [row for row in rows if "recording complete" in row]
        assert LONG_PLACE.name in row
        assert row.endswith(LONG_PLACE.name)


async def test_a_message_with_a_path_keeps_the_files_name_in_the_list() -> None:
    session = FakeSession()
    session.run(1)
    session.say(f"recording complete: {LONG_PLACE}")
    async with training(session, (120, 40)) as pilot:
        assert LONG_PLACE.name in await look(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_an_undo_is_shown_until_it_is_made(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(1)
    session.make_change("batch_size", 2048)
    session.run(1)
    session.undoes = ("batch_size", 1024)
    async with training(session, size) as pilot:
        await look(pilot)
        await pilot.press("u")
        await pilot.pause()
        text = screen_text(pilot.app)
        assert "2048 → 1024…" in text
        assert "undoing: batch size back to 1024" in text
        session.make_change("batch_size", 1024)
        assert "→ 1024…" not in await look(pilot)


async def test_the_single_line_of_changes_shows_the_news_and_then_the_effect() -> None:
    session = FakeSession()
    session.run(10)
    position = session.make_change("model_size", "x2")
    async with training(session, (80, 24)) as pilot:
        assert "size ×1 → ×2  measuring" in await look(pilot)
        session.say("model size x1 → x2: a new model, the loss starts over")
        session.run(1, steady=False)
        assert "00:10 model size x1 → x2: a new model, the loss starts over" in await look(pilot)
        session.run(5)
        session.add_effect(position, 0.61)
        text = await look(pilot)
        assert "size ×1 → ×2  ×0.610 (0.580–0.640)" in text
        assert "starts over" not in text
        session.say("the loader's workers were started anew", "warning")
        assert "00:16 the loader's workers" in await look(pilot)
        session.make_change("batch_size", 65536, error="needs about 160 GB, 139 are free")
        session.say("going on")
        assert "00:16 batch 65536 → back to 1024: needs about 160 GB" in await look(pilot)


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_the_bars_are_said_to_be_of_earlier_steps_while_there_is_no_rate(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(4)
    async with training(session, size) as pilot:
        assert "earlier" not in await look(pilot)
        session.make_change("execution", "compiled")
        session.idle(3)
        text = await look(pilot)
        assert "ONE STEP  0.556 ms  of earlier steps" in text
        assert "step      n/a" in text or size != (80, 24)
        session.state = "paused"
        assert "before the pause" in await look(pilot)
        session.state = "running"
        session.run(3)
        text = await look(pilot)
        assert "earlier" not in text
        assert "pause" not in text.splitlines()[4]


async def test_there_is_one_time_of_a_step() -> None:
    session = FakeSession()
    session.run(4)
    session.skewed_step = 1.3
    session.run(6)
    async with training(session, (80, 24)) as pilot:
        text = await look(pilot)
        (shown,) = [row for row in text.splitlines() if "ONE STEP" in row]
        step_ms = shown.split()[2]
        assert f"step {step_ms} ms" in " ".join(text.split())


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("starting", "nothing to pause yet: PyTorch, the data and the model are being loaded"),
        ("died", "nothing to pause: the worker has ended; r starts a new one"),
        ("finished", "nothing to pause: training has finished; r starts it anew"),
    ],
)
async def test_why_there_is_nothing_to_pause(state: State, words: str) -> None:
    session = FakeSession()
    session.state = state
    async with training(session) as pilot:
        await pilot.press("space")
        await pilot.pause()
        assert words in screen_text(pilot.app)
        assert session.calls == []


async def test_a_running_training_is_started_anew_at_the_second_press_alone() -> None:
    session = FakeSession()
    session.run(4)
    async with training(session) as pilot:
        await look(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        now = 100.0
        screen.press_clock = lambda: now
        await pilot.press("r")
        await pilot.pause()
        assert "r again within 2 s starts anew with a fresh model (7.20 k steps)" in screen_text(pilot.app)
        now += 2.5
        await pilot.press("r")
        assert session.calls == []
        await pilot.press("escape")
        assert session.calls == []
        await pilot.press("r")
        assert session.calls == []
        now += 1.5
        await pilot.press("r")
        assert session.calls == [("restart",)]


async def test_a_running_training_is_left_at_the_second_press_and_a_dead_one_at_once() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        sessions.opened[0].run(4)
        await look(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert "esc again within 2 s ends this training" in screen_text(pilot.app)
        assert sessions.closed == 0
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)
        assert sessions.closed == 1
        await pilot.press("enter")
        await pilot.pause()
        sessions.opened[1].run(4)
        sessions.opened[1].die("worker killed by SIGKILL")
        await look(pilot)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_ctrl_z_waits_for_pytorch_so_that_loading_goes_on_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suspended: list[bool] = []
    monkeypatch.setattr("textual.app.App.action_suspend_process", lambda _: suspended.append(True))
    sessions = FakeSessions()
    sessions.awaits_worker = True
    async with GpuTrainApp(sessions, FakeSession()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+z")
        await pilot.pause(0.25)
        assert "when PyTorch is loaded" in screen_text(pilot.app)
        assert suspended == []
        sessions.awaits_worker = False
        for _ in range(100):
            await pilot.pause(0.02)
            if suspended:
                break
        assert suspended == [True]
        sessions.awaits_worker = True
        await pilot.press("ctrl+z", "ctrl+z")
        assert suspended == [True, True]
