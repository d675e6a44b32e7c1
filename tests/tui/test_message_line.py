"""How long an answer stands: some seconds, up to the next key that acts, and while what it says is so."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from fake_feed import FakeSession, FakeSessions
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.message_line import AnsweringScreen, MessageLine
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.screens.verdict import VerdictScreen
from screen_text import look, screen_text, training

SMALLEST = "models at once: 1 is the smallest"


class Hands:
    """A clock that a test turns."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.now = 100.0
        self._pilot = pilot
        self._line = pilot.app.screen.query_one(MessageLine)
        self._line.clock = lambda: self.now

    async def falls_silent(self) -> bool:
        """Whether nothing is said any more, having looked several times."""
        for _ in range(40):
            await self._pilot.pause(0.05)
            if not self._line.text:
                return True
        return False

    async def says(self, text: str) -> bool:
        """Whether that stands there once it was looked at several times."""
        await self._pilot.pause(0.6)
        return text in self._line.text


async def test_an_answer_goes_after_some_seconds() -> None:
    async with training(FakeSession(), (80, 24)) as pilot:
        hands = Hands(pilot)
        await pilot.press("N")
        hands.now += 5.5
        assert await hands.says(SMALLEST)
        hands.now += 1.0
        assert await hands.falls_silent()
        assert SMALLEST not in screen_text(pilot.app)


async def test_it_goes_where_nothing_else_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+o")
        await pilot.pause()
        hands = Hands(pilot)
        await pilot.press("enter")
        assert await hands.says("no recordings here yet")
        hands.now += 7.0
        assert await hands.falls_silent()


@pytest.mark.parametrize("key", ["b", "down", "2", "t", "v", "ctrl+l"])
async def test_the_next_key_that_acts_ends_it(key: str) -> None:
    session = FakeSession()
    async with training(session, (80, 24)) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, AnsweringScreen)
        await pilot.press("N")
        await pilot.pause()
        assert SMALLEST in screen_text(pilot.app)
        await pilot.press(key)
        await pilot.pause()
        assert SMALLEST not in screen.query_one(MessageLine).text


async def test_a_key_without_a_meaning_leaves_it() -> None:
    async with training(FakeSession(), (80, 24)) as pilot:
        await pilot.press("N", "z", "7")
        await pilot.pause()
        assert SMALLEST in screen_text(pilot.app)


async def test_what_the_palette_does_ends_it() -> None:
    session = FakeSession()
    async with training(session, (80, 24)) as pilot:
        screen = pilot.app.screen
        await pilot.press("N")
        await screen.run_action("turn('batch_size', True)")
        await pilot.pause()
        assert session.calls == [("change", "batch_size", 2048)]
        assert SMALLEST not in screen_text(pilot.app)


async def test_letters_of_the_filter_end_what_the_first_screen_said() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        for key in ("k", "backspace"):
            await pilot.press("escape", "escape")
            await pilot.pause()
            assert "ctrl+q leaves the program" in screen_text(pilot.app)
            await pilot.press(key)
            await pilot.pause()
            assert "ctrl+q leaves the program" not in screen_text(pilot.app)


async def test_a_refusal_goes_soon_after_its_reason_does() -> None:
    session = FakeSession()
    session.state = "starting"
    async with training(session, (80, 24)) as pilot:
        hands = Hands(pilot)
        await pilot.press("space")
        hands.now += 3.0
        assert await hands.says("nothing to pause yet")
        session.state = "running"
        assert await hands.falls_silent()


async def test_what_is_over_at_once_can_still_be_read() -> None:
    session = FakeSession()
    session.run(1)
    session.undoes = ("batch_size", 512)
    async with training(session, (80, 24)) as pilot:
        hands = Hands(pilot)
        await pilot.press("u")
        session.make_change("batch_size", 512)
        await look(pilot)
        hands.now += 1.5
        assert await hands.says("undoing: batch size back to 512")
        hands.now += 1.0
        assert await hands.falls_silent()


async def test_what_stands_comes_back_and_stays() -> None:
    session = FakeSession()
    session.run(4)
    session.die("worker killed by SIGKILL")
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        hands = Hands(pilot)
        await pilot.press("b")
        assert await hands.says("nothing is training")
        hands.now += 7.0
        assert await hands.says("r starts a new worker; worker killed by SIGKILL")
        hands.now += 600.0
        await pilot.press("down")
        assert await hands.says("r starts a new worker; worker killed by SIGKILL")


async def test_another_key_takes_back_a_question() -> None:
    session = FakeSession()
    session.run(4)
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        screen.press_clock = lambda: 100.0
        await pilot.press("r", "t", "r")
        await pilot.pause()
        assert session.calls == []
        assert "r again within 2 s" in screen_text(pilot.app)
        await pilot.press("r")
        assert session.calls == [("restart",)]


async def test_the_reasoning_falls_silent_too() -> None:
    session = FakeSession()
    session.run(4)
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        await pilot.press("v")
        await pilot.pause()
        assert isinstance(pilot.app.screen, VerdictScreen)
        hands = Hands(pilot)
        await pilot.press("down")
        assert await hands.says("there is no remedy to mark")
        hands.now += 7.0
        assert await hands.falls_silent()
