"""A recording on the screen: it offers what can be done with one, and nothing that cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from diagnosis_gpu_cases import on_gpu
from fake_feed import FakeSession
from gputrain_runner.diagnosis import judge, verdict
from gputrain_tui.screens.help import HelpScreen
from gputrain_tui.screens.replay import ReplayScreen
from gputrain_tui.widgets.lines import Lines
from recorded_session import replaying
from screen_text import SIZES, look, screen_text


@asynccontextmanager
async def with_verdict(path: Path, size: tuple[int, int]) -> AsyncIterator[Pilot[None]]:
    """A recording with a verdict, shown at its end."""
    session = FakeSession(gpu=True)
    session.run(20)
    session.add(verdict(judge(on_gpu()), 20.0))
    session.make_change("batch_size", 2048)
    session.run(10)
    async with replaying(session, path / "x.json", 29.0, size) as pilot:
        await look(pilot)
        yield pilot


def keys_of(text: str) -> str:
    return text.splitlines()[-1]


@pytest.mark.parametrize("size", SIZES)
async def test_the_settings_are_shown_without_keys(size: tuple[int, int], tmp_path: Path) -> None:
    async with with_verdict(tmp_path, size) as pilot:
        text = " ".join((await look(pilot)).split())
        assert "device cuda:0" in text
        assert "batch 2048" in text or "batch size 2048" in text
        for offered in ("b B", "b batch", "d device", "p fp32", "◂", "2048 b", "SETTINGS key"):
            assert offered not in text
        line = keys_of(await look(pilot))
        for offered in ("apply", "undo", "edit", "record", "start anew"):
            assert offered not in line
        assert "v why" in line and "space hold" in line


async def test_the_verdict_offers_no_key_that_applies(tmp_path: Path) -> None:
    async with with_verdict(tmp_path, (160, 48)) as pilot:
        text = await look(pilot)
        assert "CUDA graph" in text
        assert not any(row.split("│")[-1].strip().startswith("a ") for row in text.splitlines())
        await pilot.press("v")
        await pilot.pause()
        await pilot.pause()
        line = keys_of(screen_text(pilot.app))
        assert "apply" not in line and "undo" not in line
        assert "esc recording" in line and "? explain" in line


@pytest.mark.parametrize(
    ("keys", "place"), [((), "REPLAY"), (("v",), "WHY IT WAS SLOW"), (("g",), "GPUS OF")]
)
async def test_the_help_lists_no_key_that_cannot_act(
    keys: tuple[str, ...], place: str, tmp_path: Path
) -> None:
    async with with_verdict(tmp_path, (100, 60)) as pilot:
        for key in (*keys, "f1"):
            await pilot.press(key)
            await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.pause()
        text = pilot.app.screen.query_one("#help-text", Lines).text.partition("ANYWHERE")[0]
        assert place in text
        for foreign in ("apply", "undo", "training", "batch size", "record the session"):
            assert foreign not in text


@pytest.mark.parametrize("key", ["b", "p", "enter", "right", "down", "a", "u", "r", "c", "P"])
async def test_a_key_of_the_training_says_that_this_is_a_recording(key: str, tmp_path: Path) -> None:
    async with with_verdict(tmp_path, (80, 24)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        assert "this is a recording" in screen_text(pilot.app)
        assert isinstance(pilot.app.screen, ReplayScreen)


async def test_all_gpus_lead_back_to_the_recording(tmp_path: Path) -> None:
    async with with_verdict(tmp_path, (80, 24)) as pilot:
        await pilot.press("g")
        await pilot.pause()
        await pilot.pause()
        assert "esc recording" in keys_of(screen_text(pilot.app))
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ReplayScreen)


async def test_a_held_recording_keeps_the_figures_of_its_time(tmp_path: Path) -> None:
    async with with_verdict(tmp_path, (160, 48)) as pilot:
        await pilot.press("space")
        text = await look(pilot)
        assert "held" in text
        assert "space go on" in keys_of(text)
        assert "1,843,210" in text
        assert "steady, IQR" in text
