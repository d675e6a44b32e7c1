"""The training screen: what its keys ask for, and what it shows of a feed."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from fake_feed import NO_GPU, FakeSession, FakeSessions
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.ask import AskLine
from gputrain_tui.screens.help import HelpScreen
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.widgets.time_chart import TimeChart
from screen_text import screen_text

SIZES = [(80, 24), (120, 40), (160, 48)]


@asynccontextmanager
async def training(session: FakeSession, size: tuple[int, int] = (160, 48)) -> AsyncIterator[Pilot[None]]:
    """The app over a session that runs already."""
    async with GpuTrainApp(FakeSessions(), session).run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot


async def look(pilot: Pilot[None]) -> str:
    """The screen's text after it has taken in all that the feed has."""
    screen = pilot.app.screen
    if isinstance(screen, TrainingScreen):
        screen.pull()
        screen.redraw()
        await pilot.pause()
        screen.redraw()
    await pilot.pause()
    return screen_text(pilot.app)


# ------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("key", "call"),
    [
        ("b", ("change", "batch_size", 2048)),
        ("B", ("change", "batch_size", 512)),
        ("m", ("change", "model_size", "x2")),
        ("M", ("change", "model_size", "x0.5")),
        ("d", ("change", "device", "cpu")),
        ("D", ("change", "device", "cpu")),
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
        ("p", "precision: fp32 is the only one here"),
        ("x", "execution: eager is the only one here"),
        ("l", "data path: host is the only one here"),
        ("n", "models at once: 1 is the only one here"),
        ("N", "models at once: 1 is the only one here"),
    ],
)
async def test_a_key_that_cannot_act_says_why(key: str, why: str) -> None:
    session = FakeSession()
    async with training(session, (80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert why in screen_text(pilot.app)
        assert session.calls == []


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
        assert "x0.25, x0.5, x1, x2, x4, x8, x16" in screen_text(pilot.app)
        await pilot.press(*"x8", "enter")
        await pilot.pause()
        assert session.calls == [("change", "model_size", "x8")]


async def test_escape_leaves_the_editor_without_a_change() -> None:
    session = FakeSession()
    async with training(session) as pilot:
        await pilot.press("enter", *"64", "escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TrainingScreen)
        assert session.calls == []


# ------------------------------------------------------------------- what is shown


@pytest.mark.parametrize("size", SIZES)
async def test_rate_loss_and_phases_are_shown(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(20)
    async with training(session, size) as pilot:
        text = await look(pilot)
        assert "1,843,210" in text
        assert "ONE STEP  0.556 ms" in text
        assert re.search(r"loss\s+0\.02", text)
        assert "host" in text
        assert "synthetic" in text
        assert "lasagne-mlp ×1 · cpu" in text
        assert "00:00:20" in text


async def test_numbers_are_medians_so_that_one_outlier_does_not_show() -> None:
    session = FakeSession()
    session.run(3, 1_000_000)
    session.run(0.25, 9_000_000)
    async with training(session) as pilot:
        text = await look(pilot)
        assert "1,000,000" in text
        assert "9,000,000" not in text


@pytest.mark.parametrize(("size", "view"), [((80, 24), "3"), ((120, 40), "1"), ((160, 48), "1")])
async def test_a_change_is_measured_and_its_effect_appears(size: tuple[int, int], view: str) -> None:
    session = FakeSession()
    session.run(10)
    position = session.make_change("batch_size", 2048)
    session.run(1, steady=False)
    async with training(session, size) as pilot:
        await pilot.press(view)
        assert "00:10 batch 1024 → 2048  measuring" in await look(pilot)
        session.run(10, 3_000_000)
        session.add_effect(position, 1.71)
        assert "00:10 batch 1024 → 2048  ×1.71 (1.68–1.74)" in await look(pilot)


async def test_a_change_is_marked_in_the_rate_chart() -> None:
    session = FakeSession()
    session.run(20)
    session.make_change("batch_size", 2048)
    session.run(20, 3_000_000)
    async with training(session) as pilot:
        assert "▲batch 1024 → 2048" in await look(pilot)


async def test_validation_is_shown() -> None:
    session = FakeSession("keras-mnist-mlp")
    session.run(5)
    session.add_validation(3, 0.0812, 0.9712)
    session.run(1)
    async with training(session) as pilot:
        assert "validation after epoch 3: loss 0.0812, accuracy 97.1 %" in await look(pilot)


async def test_gpu_figures_are_plotted_where_the_samples_have_them() -> None:
    session = FakeSession(gpu=True)
    session.run(20)
    async with training(session) as pilot:
        text = await look(pilot)
        assert "GPU 0  NVIDIA H200" in text
        for figure in ("utilisation", "memory", "PCIe rx", "PCIe tx"):
            assert figure in text
        assert "of 131 GiB" in text
        assert "link gen 5 ×16" in text
        assert "not throttled" in text
        assert "No NVIDIA GPU" not in text
        charts = [chart for chart in pilot.app.screen.query("#gpu .plot-chart") if chart.display]
        assert len(charts) == 4
        assert all(isinstance(chart, TimeChart) for chart in charts)


async def test_without_a_driver_the_reason_and_the_host_take_the_gpus_place() -> None:
    session = FakeSession()
    session.run(20)
    async with training(session) as pilot:
        text = await look(pilot)
        assert NO_GPU.split(". ", maxsplit=1)[0] in text
        assert "host CPU" in text
        assert "host memory" in text
        assert not pilot.app.screen.query_one("#gpu").display


async def test_a_driver_that_falls_silent_is_said_to_be() -> None:
    session = FakeSession(gpu=True)
    session.run(5)
    spoken = session.gpu_values
    session.gpu_values = lambda: type(spoken())(index=0, uuid="GPU-1", name="NVIDIA H200")  # type: ignore[method-assign]
    session.run(7)
    async with training(session) as pilot:
        assert "driver silent for 7 s; training goes on" in await look(pilot)


async def test_the_recording_is_named_and_ends_by_the_same_key() -> None:
    session = FakeSession()
    session.run(1)
    async with training(session) as pilot:
        assert "● REC" not in await look(pilot)
        await pilot.press("c")
        assert "● REC 2026-11-30T10-12-00-lasagne-mlp.json" in await look(pilot)
        await pilot.press("c")
        text = await look(pilot)
        assert "● REC" not in text
        assert "recording complete: /recordings/" in text
        assert session.calls == [("start_recording",), ("stop_recording",)]


async def test_pausing_shows_at_once_and_the_same_key_goes_on() -> None:
    session = FakeSession()
    session.run(1)
    async with training(session) as pilot:
        await pilot.press("space")
        await pilot.pause()
        assert "pausing" in screen_text(pilot.app)
        session.state = "paused"
        text = await look(pilot)
        assert "paused" in text
        assert "space go on" in text
        await pilot.press("space")
        assert session.calls == [("pause",), ("resume",)]


@pytest.mark.parametrize("size", SIZES)
async def test_a_worker_that_died_takes_the_steps_place(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(5)
    session.die("worker killed by SIGKILL", "loading", "the last line it said")
    async with training(session, size) as pilot:
        text = await look(pilot)
        assert "worker killed by SIGKILL" in text
        assert "the last line it said" in text
        assert "r starts a new worker with the same settings" in text
        assert "ONE STEP" not in text
        await pilot.press("b")
        await pilot.pause()
        assert "nothing is training: r starts a new worker" in screen_text(pilot.app)
        await pilot.press("r")
        assert session.calls == [("restart",)]


async def test_the_bars_come_back_after_a_restart() -> None:
    session = FakeSession()
    session.run(5)
    session.die("worker killed by SIGKILL")
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        session.state = "running"
        session.run(2)
        text = await look(pilot)
        assert "ONE STEP" in text
        assert "SIGKILL" not in text


# ---------------------------------------------------------------- layout and screens


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
        for whole in ("samples/s", "3 Changes", "batch 2048", "x eager", "? help", "esc presets", "q quit"):
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
        assert "[3 Changes]" in text
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


async def test_nothing_is_drawn_under_a_box_and_all_is_caught_up_after() -> None:
    session = FakeSession()
    session.run(2, 1_000_000)
    async with training(session) as pilot:
        await look(pilot)
        under = pilot.app.screen
        assert isinstance(under, TrainingScreen)
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)
        session.run(5, 2_000_000)
        position = under.history.latest
        under.pull()
        assert under.history.latest is position
        await pilot.press("escape")
        await pilot.pause()
        assert "2,000,000" in await look(pilot)


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
