"""While paused there is no rate; after going on there is one from the steps since alone."""

from __future__ import annotations

import pytest

from fake_feed import FakeSession
from screen_text import SIZES, look, screen_text, training


@pytest.mark.parametrize("size", SIZES)
async def test_a_pause_ends_the_rate_at_once_and_going_on_settles(size: tuple[int, int]) -> None:
    session = FakeSession()
    session.run(10, 1_000_000)
    async with training(session, size) as pilot:
        text = await look(pilot)
        assert "1,000,000" in text and "steady, IQR" in text
        session.state = "paused"
        for _ in range(2):
            session.idle(1)
            text = await look(pilot)
            assert "samples/s paused" in " ".join(text.split())
            assert "1,000,000" not in text
            assert "steady, IQR" not in text and "settling" not in text
        session.state = "running"
        session.elapsed_s += 0.1
        text = await look(pilot)
        assert "samples/s n/a" in " ".join(text.split())
        assert "settling" in text and "steady, IQR" not in text
        session.run(0.5, 3_000_000, steady=False)
        text = await look(pilot)
        assert "3,000,000" in text and "settling" in text
        session.run(2, 3_000_000)
        text = await look(pilot)
        assert "3,000,000" in text
        assert "steady, IQR 0.0 %" in text and "settling" not in text


async def test_a_short_pause_leaves_nothing_of_the_rate_before_it() -> None:
    session = FakeSession()
    session.run(4, 1_000_000)
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        session.state = "paused"
        session.elapsed_s += 0.2
        await look(pilot)
        session.state = "running"
        session.run(0.25, 3_000_000, steady=False)
        assert "3,000,000" in await look(pilot)


async def test_what_is_not_stepped_has_no_ceiling_to_reach() -> None:
    session = FakeSession()
    session.run(4)
    async with training(session, (160, 48)) as pilot:
        await look(pilot)
        session.state = "paused"
        await look(pilot)
        (title,) = [row for row in screen_text(pilot.app).splitlines() if row.strip().startswith("samples/s")]
        assert title.partition("│")[0].split() == ["samples/s", "paused"]


async def test_a_training_that_died_has_no_rate() -> None:
    session = FakeSession()
    session.run(4, 1_000_000)
    async with training(session, (80, 24)) as pilot:
        await look(pilot)
        session.die("worker killed by SIGKILL")
        text = await look(pilot)
        assert "1,000,000" not in text and "steady, IQR" not in text
