"""The app with fake sweeps, as tests of its sweep screens use it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from fake_feed import FakeSessions
from fake_sweeps import FakeSweep, FakeSweeps
from gputrain_runner.sweep import Plan
from gputrain_runner.sweep.job import Job, new_path
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.sweep import SweepScreen
from gputrain_tui.screens.sweep_setup import SweepSetupScreen
from gputrain_tui.sweep_choices import Choices
from screen_text import screen_text


class Screens:
    """The app with fake sweeps, its setup screen open."""

    def __init__(self, pilot: Pilot[None], sweeps: FakeSweeps, sessions: FakeSessions) -> None:
        self.pilot, self.sweeps, self.sessions = pilot, sweeps, sessions
        self._line = 0

    async def press(self, *keys: str) -> str:
        await self.pilot.press(*keys)
        return await self.text()

    async def text(self) -> str:
        await self.pilot.pause()
        screen = self.pilot.app.screen
        if isinstance(screen, SweepScreen):
            screen.pull()
        await self.pilot.pause()
        await self.pilot.pause()
        return screen_text(self.pilot.app)

    async def choose(self, line: int, *typed: str) -> str:
        """Mark that line of the form, open it, press these, accept."""
        way = "down" if line > self._line else "up"
        await self.pilot.press(*[way] * abs(line - self._line), "enter")
        self._line = line
        await self.pilot.pause()
        await self.pilot.press(*typed, "enter")
        return await self.text()

    @property
    def plan(self) -> Plan:
        return self.sweeps.begun[-1].job.plan

    @property
    def sweep(self) -> FakeSweep:
        return self.sweeps.begun[-1]


PRESETS, SIZES, BATCHES, DEVICES, PASSES, OVER, RUNS = range(7)


@asynccontextmanager
async def setup(size: tuple[int, int] = (100, 30), *, gpu: bool = True) -> AsyncIterator[Screens]:
    sessions, sweeps = FakeSessions(gpu=gpu), FakeSweeps()
    async with GpuTrainApp(sessions, sweeps=sweeps).run_test(size=size) as pilot:
        screens = Screens(pilot, sweeps, sessions)
        await screens.press("ctrl+s")
        assert isinstance(pilot.app.screen, SweepSetupScreen)
        yield screens


@asynccontextmanager
async def sweeping(size: tuple[int, int] = (100, 30), **chosen: Any) -> AsyncIterator[Screens]:
    """A sweep of two presets over three batch sizes has begun."""
    usual = {"presets": ("lasagne-mlp", "keras-mnist-mlp"), "batch_sizes": "8,16,64"}
    choices = Choices(**{**usual, **chosen})
    grid = choices.grid()
    async with setup(size) as screens:
        job = Job(grid.plan, grid.presets, new_path(grid.plan), choices.arguments())
        app = screens.pilot.app
        assert isinstance(app, GpuTrainApp)
        await app.push_screen(SweepScreen(screens.sweeps, app.size_classes(), path=job.path, job=job))
        await screens.text()
        yield screens
