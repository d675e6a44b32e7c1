"""The training screen in every size, under other screens, and left."""

from __future__ import annotations

import pytest

from fake_feed import FakeSession, FakeSessions
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.widgets.lines import Lines
from screen_text import look, screen_text, training


@pytest.mark.parametrize("view", ["1", "2", "3"])
@pytest.mark.parametrize("gpu", [False, True])
async def test_nothing_is_cut_in_the_narrow_layout(view: str, gpu: bool) -> None:
    session = FakeSession(gpu=gpu)
    session.run(30)
    session.add_effect(session.make_change("batch_size", 2048), 1.71)
    session.run(30)
    async with training(session, (80, 24)) as pilot:
        await pilot.press(view)
        text = await look(pilot)
        rows = text.splitlines()
        assert len(rows) == 24
        assert all(len(row) <= 79 for row in rows)
        # A phase too short for its name in the bars has "…" in its place; the legend has it in full.
        bars = ("device ▏", "host   ▏")
        assert not [row for row in rows if "…" in row and not row.strip().startswith(bars)]
        for whole in ("samples/s", "3 Why", "batch 2048", "x eager", "? help", "esc presets", "q quit"):
            assert whole in text


async def test_the_views_of_the_narrow_layout() -> None:
    session = FakeSession(gpu=True)
    session.run(30)
    session.make_change("batch_size", 2048)
    async with training(session, (80, 24)) as pilot:
        assert "ONE STEP" in await look(pilot)
        await pilot.press("2")
        text = await look(pilot)
        assert "[2 GPU]" in text
        assert "PCIe tx" in text
        assert "ONE STEP" not in text
        await pilot.press("3")
        text = await look(pilot)
        assert "[3 Why]" in text
        assert "batch 1024 → 2048" in text
        assert "PCIe tx" not in text


@pytest.mark.parametrize("size", [(59, 24), (80, 14), (20, 5)])
async def test_a_terminal_that_is_too_small_is_told_so(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(2)
    async with training(session, size) as pilot:
        text = " ".join((await look(pilot)).split())
        assert f"This terminal is {size[0]} × {size[1]}" in text
        assert "60 × 15" in text


async def test_a_resize_lays_out_anew_also_under_a_box() -> None:
    session = FakeSession()
    session.run(20)
    async with training(session, (160, 48)) as pilot:
        assert "SETTINGS" in await look(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.press("escape")
        await pilot.pause()
        await pilot.pause()
        text = await look(pilot)
        assert "SETTINGS" not in text
        assert "[1 Step]" in text


async def test_any_size_is_survived() -> None:
    session = FakeSession(gpu=True)
    session.run(20)
    async with training(session, (160, 48)) as pilot:
        for size in ((2, 1), (300, 90), (60, 15), (110, 15), (109, 36), (1, 50), (110, 36), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("2", "question_mark", "escape", "1")
            session.run(1)
            await look(pilot)
        text = await look(pilot)
        assert "ONE STEP" in text
        assert "q quit" in text


@pytest.mark.parametrize("box", ["question_mark", "ctrl+p", "enter"])
async def test_the_view_goes_on_behind_a_box_and_stands_at_the_newest_after_it(box: str) -> None:
    session = FakeSession()
    session.run(3, 1_000_000)
    async with training(session) as pilot:
        await look(pilot)
        under = pilot.app.screen
        assert isinstance(under, TrainingScreen)
        await pilot.press(box)
        await pilot.pause()
        assert pilot.app.screen is not under
        position = session.make_change("batch_size", 2048)
        session.run(5, 2_000_000)
        session.add_effect(position, 2.0)
        for _ in range(4):
            under.pull()
        await pilot.pause()
        if box == "enter":
            # The editor's box leaves the sides free.
            assert "2048" in screen_text(pilot.app)
        assert "2,000,000" in under.query_one("#rate-plot .plot-title", Lines).text
        await pilot.press("escape")
        await pilot.pause()
        await pilot.pause()
        text = screen_text(pilot.app)
        assert "2,000,000" in text
        assert "batch 1024 → 2048  ×2.00" in text


async def test_escape_ends_the_session_and_goes_back_to_the_presets() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TrainingScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)
        assert sessions.closed == 1
        await pilot.press("down", "enter")
        await pilot.pause()
        assert len(sessions.opened) == 2


async def test_q_leaves() -> None:
    app = GpuTrainApp(FakeSessions(), FakeSession())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0
