"""The screen of all GPUs where something is not known: a GPU that is lost, processes, clocks held back."""

from __future__ import annotations

import pytest
from msgspec import structs
from textual.pilot import Pilot

from fake_feed import FakeSession
from gpus import DETAIL, gpu
from gputrain_runner.timeline import Gpu, GpuProcess
from gputrain_tui.screens.gpus import GpusScreen
from gputrain_tui.screens.training import TrainingScreen
from screen_text import screen_text, training


def of(*gpus: Gpu) -> FakeSession:
    """A session whose samples have these GPUs."""
    session = FakeSession(gpu=True)
    session.gpus = list(gpus)
    session.run(3)
    return session


async def drawn(pilot: Pilot[None]) -> str:
    """What the screen of all GPUs shows after taking in the newest sample, runs of spaces as one."""
    below = next(screen for screen in pilot.app.screen_stack if isinstance(screen, TrainingScreen))
    below.pull()
    if not isinstance(pilot.app.screen, GpusScreen):
        await pilot.press("g")
        await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, GpusScreen)
    for _ in range(2):
        screen.draw()
        await pilot.pause()
    return "\n".join(" ".join(line.split()) for line in screen_text(pilot.app).splitlines())


async def test_a_lost_gpu_is_said_to_be_lost_at_once_and_for_as_long_as_it_is() -> None:
    session = of(gpu(0), gpu(1))
    async with training(session) as pilot:
        await drawn(pilot)
        await pilot.press("down")
        for age_s in (0.1, 42.0):
            lost = Gpu(index=1, uuid="GPU-2", age_s=age_s, trouble="GPU 1 is lost: it fell off the bus")
            session.gpus = [gpu(0), lost]
            session.run(0.25)
            text = await drawn(pilot)
            row = next(line for line in text.splitlines() if line.startswith("▸ 1 H200"))
            assert "lost: it fell" in row and "1,410" in row
            assert "GPU 1 is lost: it fell off the bus" in text
            assert "silent" not in text
        session.gpus = [gpu(0), gpu(1)]
        session.run(0.25)
        assert "lost" not in await drawn(pilot)


async def test_a_driver_that_hangs_after_it_refused_something_is_silent_and_not_lost() -> None:
    trouble = "GPU 0: no permission to read fan"
    session = of(gpu(0, trouble=trouble))
    async with training(session) as pilot:
        session.gpus = [Gpu(index=0, uuid="GPU-1", age_s=7.0, trouble=trouble)]
        session.run(0.25)
        assert "driver silent for 7 s; training goes on (no permission to read fan)" in await drawn(pilot)


@pytest.mark.parametrize(
    ("processes", "told"),
    [(None, "PROCESSES\nn/a"), ([], "PROCESSES\nnone"), ([GpuProcess(pid=1)], "PROCESSES\n1 n/a n/a n/a")],
)
async def test_processes_that_are_not_known_are_not_none(
    processes: list[GpuProcess] | None, told: str
) -> None:
    detail = structs.replace(DETAIL, processes=processes)
    async with training(of(gpu(0, detail=detail)), (160, 60)) as pilot:
        assert told in await drawn(pilot)


@pytest.mark.parametrize(
    ("shares", "seconds", "told"),
    [
        (None, None, "counters n/a"),
        ({}, {}, "counters none since the start"),
        ({}, None, "counters n/a"),
        (None, {"sw_power_cap": 8.0}, "power cap n/a now, 8 s in all"),
    ],
)
async def test_clocks_held_back_by_what_is_not_known(
    shares: dict[str, float] | None, seconds: dict[str, float] | None, told: str
) -> None:
    async with training(of(gpu(0, throttled=shares, throttled_s=seconds)), (160, 60)) as pilot:
        assert told in await drawn(pilot)
