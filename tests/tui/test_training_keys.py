"""The keys of the training screen: what they ask for, show at once, and refuse."""

from __future__ import annotations

import pytest

from fake_feed import FakeSession
from gputrain_tui.screens.ask import AskLine
from gputrain_tui.screens.training import TrainingScreen
from screen_text import SIZES, look, screen_text, training


@pytest.mark.parametrize(
    ("key", "call"),
    [
        ("b", ("change", "batch_size", 2048)),
        ("B", ("change", "batch_size", 512)),
        ("m", ("change", "model_size", "x2")),
        ("M", ("change", "model_size", "1x150")),
        ("d", ("change", "device", "cpu")),
        ("D", ("change", "device", "cpu")),
        ("n", ("change", "models_at_once", 2)),
        ("right", ("change", "batch_size", 2048)),
        ("left", ("change", "batch_size", 512)),
        ("u", ("undo",)),
        ("r", ("restart",)),
        ("space", ("pause",)),
        ("c", ("start_recording",)),
    ],
)
async def test_a_key_asks_the_control(key: str, call: tuple[object, ...]) -> None:
    session = FakeSession(gpu=True)
    async with training(session) as pilot:
        await pilot.press(key)
        assert session.calls == [call]


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("d", "device: cpu is the only one here"),
        ("N", "models at once: 1 is the smallest"),
    ],
)
async def test_a_key_that_cannot_act_says_why(key: str, why: str) -> None:
    session = FakeSession()
    async with training(session, (80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert why in screen_text(pilot.app)
        assert session.calls == []


@pytest.mark.parametrize(
    ("key", "setting", "found"),
    [
        ("p", "precision", ["bf16", "fp16", "fp32"]),
        ("x", "execution", ["compiled", "eager"]),
        ("l", "data_path", ["prefetch", "resident", "loader", "host"]),
    ],
)
async def test_a_key_passes_over_what_a_cpu_cannot(key: str, setting: str, found: list[str]) -> None:
    session = FakeSession()
    async with training(session) as pilot:
        for value in found:
            await pilot.press(key)
            assert session.calls[-1] == ("change", setting, value)


@pytest.mark.parametrize("size", SIZES)
async def test_a_key_shows_at_once_and_until_the_change_is_made(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(2)
    async with training(session, size) as pilot:
        await pilot.press("b")
        await pilot.pause()
        assert "1024 → 2048" in screen_text(pilot.app)
        session.make_change("batch_size", 2048)
        session.run(1)
        text = await look(pilot)
        assert "1024 → 2048…" not in text
        assert "batch 2048" in text


async def test_pressing_on_goes_on_from_what_was_asked_for() -> None:
    session = FakeSession()
    async with training(session) as pilot:
        await pilot.press("b", "b", "b")
        assert [call[2] for call in session.calls] == [2048, 4096, 8192]
        session.make_change("batch_size", 2048)
        assert "2048 → 8192" in await look(pilot)


async def test_a_change_that_was_given_up_is_no_longer_pending_and_says_why() -> None:
    session = FakeSession()
    session.run(2)
    async with training(session) as pilot:
        await pilot.press("b")
        session.make_change("batch_size", 2048, error="needs about 160 GB, 139 are free")
        text = await look(pilot)
        assert "1024 → 2048…" not in text
        assert "needs about 160 GB" in text


async def test_what_the_session_refuses_is_said() -> None:
    session = FakeSession()
    session.refuses = "nothing to undo"
    async with training(session, (80, 24)) as pilot:
        await pilot.press("u")
        await pilot.pause()
        assert "nothing to undo" in screen_text(pilot.app)


async def test_a_value_is_typed_for_the_marked_setting() -> None:
    session = FakeSession()
    async with training(session, (80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, AskLine)
        assert "a whole number from 1 to 934,918" in screen_text(pilot.app)
        await pilot.press(*"many", "enter")
        await pilot.pause()
        assert "batch_size: found 'many', allowed: a whole number" in screen_text(pilot.app)
        await pilot.press(*["backspace"] * 4, *"300", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TrainingScreen)
        assert session.calls == [("change", "batch_size", 300)]


async def test_the_arrow_keys_choose_what_enter_edits() -> None:
    session = FakeSession()
    async with training(session) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "x0.25, 5x15, x0.5, 1x150, x1, x2" in screen_text(pilot.app)
        await pilot.press(*"x8", "enter")
        await pilot.pause()
        assert session.calls == [("change", "model_size", "x8")]


async def test_a_size_beside_the_ladder_is_typed_and_left_by_its_neighbours() -> None:
    session = FakeSession()
    async with training(session) as pilot:
        await pilot.press("down", "enter")
        await pilot.press(*"3x80", "enter")
        await pilot.pause()
        await pilot.press("m")
        await pilot.press("M", "M")
        changed = [call[2] for call in session.calls]
        assert changed[0] == "3x80"
        assert changed[1:] == ["x2", "x1", "1x150"]


async def test_escape_leaves_the_editor_without_a_change() -> None:
    session = FakeSession()
    async with training(session) as pilot:
        await pilot.press("enter", *"64", "escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TrainingScreen)
        assert session.calls == []
