"""The step panel's device line, in the app."""

from __future__ import annotations

import pytest
from msgspec import structs

from fake_feed import FakeSession
from gputrain_runner.timeline import KindOfWork, Profile
from screen_text import look, training

SIZES = [(80, 24), (160, 48)]
PROFILE = Profile(
    steps=5, step_ms=0.5, work_ms=0.31, launches=84, work={"matmul": KindOfWork(ms=0.31, count=11)}
)


def rows(text: str, beginning: str) -> list[str]:
    """The rows whose first word this is."""
    return [row.strip() for row in text.splitlines() if row.strip().startswith(beginning)]


@pytest.mark.parametrize("size", SIZES)
async def test_a_gpu_is_busy_and_idle_on_the_scale_of_the_host(size: tuple[int, int]) -> None:
    session = FakeSession(gpu=True)
    session.run(2)
    async with training(session, size) as pilot:
        [unknown] = rows(await look(pilot), "device n/a")
        assert unknown.startswith("device n/a until profiled")
        session.busy = 0.21
        session.run(2)
        text = await look(pilot)
        [host] = rows(text, "host   ▏")
        [device] = rows(text, "device ▏")
        assert "busy 21 %" in device
        assert "idle 79 %" in device
        assert host.rindex("▏") == device.rindex("▏")
        # The spans, which contain what the GPU waited, stand in the legend under a name of their own.
        assert len(rows(text, "span ")) == 1


@pytest.mark.parametrize("size", SIZES)
async def test_a_cpu_works_or_waits_for_python_until_something_changes(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(2)
    async with training(session, size) as pilot:
        assert rows(await look(pilot), "device n/a until profiled")
        session.elapsed_s += 0.25
        session.add(structs.replace(session.sample(1_843_210.0), profile=PROFILE))
        session.run(2)
        [device] = rows(await look(pilot), "device ▏")
        assert "operators 62 %" in device
        assert "Python and dispatch 38 %" in device
        session.make_change("batch_size", 2048)
        session.run(2)
        assert rows(await look(pilot), "device n/a until profiled")
