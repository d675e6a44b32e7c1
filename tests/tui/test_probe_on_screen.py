"""The machine's ceilings on the training screen: measured by a key, and FLOP/s as a share of them."""

from __future__ import annotations

import pytest
from msgspec import structs

from fake_feed import FakeSession
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_tui.commands.run import read_plan
from gputrain_tui.screens.help import HelpText
from screen_text import SIZES, look, training


def ceilings(device: str, flops_per_s: float, *, noisy: bool = False) -> Ceilings:
    rate = Figure(median=flops_per_s, q25=flops_per_s, q75=flops_per_s, repeats=9)
    return Ceilings(
        device=device,
        measured_at="2026-11-30T10:00:00+00:00",
        matmul_flops_per_s={"fp32": rate},
        noisy=noisy,
    )


def working(flops_per_s: float) -> FakeSession:
    session = FakeSession()
    for _ in range(8):
        session.elapsed_s += 0.25
        session.add(structs.replace(session.sample(1_000_000.0), flops_per_s=flops_per_s))
    return session


@pytest.mark.parametrize("size", SIZES)
async def test_a_key_measures_the_ceilings(size: tuple[int, int]) -> None:
    session = FakeSession()
    async with training(session, size) as pilot:
        await pilot.press("P")
        assert session.calls == [("probe",)]
        assert "measuring this machine's ceilings: training waits some seconds" in await look(pilot)


async def test_it_says_why_it_cannot() -> None:
    session = FakeSession()
    session.refuses = "the ceilings are being measured already: training waits"
    async with training(session) as pilot:
        await pilot.press("P")
        assert session.refuses in await look(pilot)
        assert session.calls == []


@pytest.mark.parametrize("size", SIZES[1:])
async def test_work_is_shown_as_a_share_of_a_measured_ceiling_alone(size: tuple[int, int]) -> None:
    session = working(25e9)
    async with training(session, size) as pilot:
        text = await look(pilot)
        assert "25.0 GFLOP/s" in text and "ceiling" not in text
        session.probes = {"cuda:0": ceilings("cuda:0", 50e12)}
        assert "ceiling" not in await look(pilot)
        session.probes = {"cpu": ceilings("cpu", 100e9)}
        assert "25.0 GFLOP/s, 25 % of its ceiling" in await look(pilot)
        session.settings = session.settings.with_value("precision", "bf16")
        assert "ceiling" not in await look(pilot)


@pytest.mark.parametrize(
    ("ceiling", "shown"),
    [
        (ceilings("cpu", 20e9), ", 125 % of its ceiling"),
        (ceilings("cpu", 2e12), ", 1.2 % of its ceiling"),
        (ceilings("cpu", 50e9, noisy=True), ", about 50 % of its ceiling"),
    ],
)
async def test_a_share_is_shown_as_it_is(ceiling: Ceilings, shown: str) -> None:
    session = working(25e9)
    session.probes = {"cpu": ceiling}
    async with training(session) as pilot:
        assert f"25.0 GFLOP/s{shown}" in await look(pilot)


async def test_the_help_says_what_a_ceiling_is() -> None:
    async with training(FakeSession()) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        text = str(pilot.app.screen.query_one(HelpText).build(200, 0))
        assert "measure this machine's ceilings" in text
        assert "Winograd's method" in text


def test_a_run_measures_before_it_trains_where_it_is_asked_to() -> None:
    assert read_plan(["lasagne-mlp", "--steps", "5", "--probe"]).probe
    assert not read_plan(["lasagne-mlp", "--steps", "5"]).probe
