"""The training screen: what it shows of a feed."""

from __future__ import annotations

import re

import pytest

from fake_feed import NO_GPU, FakeSession
from gputrain_tui.widgets.time_chart import TimeChart
from screen_text import SIZES, look, screen_text, training


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
        assert "not slowed down" in text
        assert "No NVIDIA GPU" not in text
        charts = [chart for chart in pilot.app.screen.query("#gpu .plot-chart") if chart.display]
        assert len(charts) == 6
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
        assert "recording complete: /recordings/2026-11-30T10-12-00-lasagne-mlp.json" in text
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
