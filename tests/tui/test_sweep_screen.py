"""The sweep screen: table and curves filling, stopping, going on; and the list of past sweeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from fake_sweeps import published_like
from gputrain_runner.paths import sweeps_folder
from gputrain_runner.sweep import load, save
from gputrain_tui.screens.sweep import SweepScreen
from gputrain_tui.screens.sweep_setup import SweepSetupScreen
from sweep_screens import setup, sweeping


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def test_the_table_fills_while_it_runs() -> None:
    async with sweeping((120, 40)) as screens:
        text = await screens.text()
        assert "starting" in text and "·" in text
        screens.sweep.measure(1, published_like(["keras-mnist-mlp"]))
        text = await screens.text()
        assert "NVIDIA H200" in text and "forward" in text and "fwd+bwd" in text
        assert "3.37" in text and "measuring" in text
        assert "1/24  round 1 of 2  about 2 min left" in text
        screens.sweep.measure(11, published_like(["keras-mnist-mlp"]))
        text = await screens.text()
        assert "missing" in text and "complete  12 points" in text and "measuring" not in text


@pytest.mark.parametrize("size", [(80, 24), (160, 48)])
async def test_the_curves_are_those_of_the_marked_net(size: tuple[int, int]) -> None:
    async with sweeping(size) as screens:
        screens.sweep.measure(12, published_like(["keras-mnist-mlp"]))
        text = await screens.press("home")
        assert "lasagne-mlp ×1: ms by batch size" in text
        assert "●" in text and "○" in text and "┼────" in text
        assert "lasagne-mlp ×1, cuda:0, batch 8, forward: 3.37 ms, IQR 1.0 %" in text
        assert "least time per sample at batch 64" in text or size == (80, 24)
        text = await screens.press("right")
        assert "batch 8, training: 10.20 ms" in text
        text = await screens.press("end")
        assert "keras-mnist-mlp 750: ms by batch size" in text
        assert "batch 64, training: missing: out of memory:" in text
        assert all(len(line) <= size[0] for line in text.splitlines())


async def test_the_mark_goes_with_what_is_measured_until_it_is_moved() -> None:
    async with sweeping((80, 24)) as screens:
        screens.sweep.measure(8, published_like([]))
        text = await screens.text()
        assert "keras-mnist-mlp 750: ms by batch size" in text and "measuring" in text
        await screens.press("home")
        screens.sweep.measure(1, published_like([]))
        assert "lasagne-mlp ×1: ms by batch size" in await screens.text()


async def test_columns_that_do_not_fit_come_with_the_mark() -> None:
    async with sweeping((60, 24), devices=("cuda:0", "cpu")) as screens:
        screens.sweep.measure(24, published_like([]))
        text = await screens.press("home")
        assert "← → " in text and "408.00" not in text
        text = await screens.press("right", "right", "right")
        assert "408.00" in text


async def test_it_is_stopped_and_gone_on_with(tmp_path: Path) -> None:
    async with sweeping() as screens:
        first = screens.sweep
        first.measure(5, published_like([]))
        assert "s stop" in await screens.text()
        text = await screens.press("s")
        assert first.stops == [0.0] and "stopped  5 of 12 points" in text and "s go on" in text
        save(first.job.path, first.file(complete=False))
        text = await screens.press("s")
        assert len(screens.sweeps.begun) == 1
        assert "it lacks the preset" in text  # A file that is not whole says so.


async def test_going_on_takes_what_the_file_holds() -> None:
    async with sweeping() as screens:
        first = screens.sweep
        first.measure(5, published_like(["lasagne-mlp"]))
        await screens.press("s")
        save(first.job.path, first.file(complete=False, with_presets=True))
        await screens.press("s")
        assert len(screens.sweeps.begun) == 2
        resumed = screens.sweep.job.resumed
        assert resumed is not None and len(resumed.points) == 5
        assert screens.plan.points == first.plan.points
        screens.sweep.measure(7, published_like([]))
        text = await screens.text()
        assert "complete  12 points" in text
        save(first.job.path, screens.sweep.file(complete=True, with_presets=True))
        text = await screens.press("s")
        assert "all of it is measured" in text and len(screens.sweeps.begun) == 2
        await screens.press("f")
        again = screens.sweep.job.resumed
        assert len(screens.sweeps.begun) == 3 and again is not None
        assert all(point.outcome == "ok" for point in again.points) and len(again.points) == 11


async def test_leaving_stops_it_at_the_second_press() -> None:
    async with sweeping() as screens:
        screens.sweep.measure(3, published_like([]))
        text = await screens.press("escape")
        assert "esc again within 3 s stops this sweep" in text and screens.sweep.stops == []
        await screens.press("escape")
        assert isinstance(screens.pilot.app.screen, SweepSetupScreen)
        assert len(screens.sweep.stops) == 1


async def test_one_that_has_ended_is_left_at_once() -> None:
    async with sweeping() as screens:
        screens.sweep.measure(12, published_like([]))
        await screens.press("escape")
        assert isinstance(screens.pilot.app.screen, SweepSetupScreen)


async def test_leaving_the_app_stops_it() -> None:
    async with sweeping() as screens:
        screens.sweep.measure(3, published_like([]))
        await screens.press("q")
    assert len(screens.sweep.stops) == 1 and screens.sweep.stops[0] <= 0.5


async def test_why_it_failed_is_said() -> None:
    async with sweeping() as screens:
        screens.sweep.state, screens.sweep.error = "failed", "there is no device cuda:7; there are cpu"
        assert "there is no device cuda:7; there are cpu" in await screens.text()


async def test_help_and_palette_know_the_screens() -> None:
    async with sweeping() as screens:
        text = await screens.press("question_mark")
        assert "SWEEP" in text and "mark a row; the curves are its net's" in text
        await screens.press("escape", "ctrl+p")
        text = await screens.press(*"stop the")
        assert "stop the sweep, or go on with it" in text


# ------------------------------------------------------------------------ past sweeps


async def test_past_sweeps_are_listed_opened_and_compared(tmp_path: Path) -> None:
    async with sweeping() as screens:
        whole = screens.sweep
        whole.measure(12, published_like([]))
        folder = sweeps_folder()
        save(folder / "2026-11-30T10-00-00-a.json", whole.file(complete=True, with_presets=True))
        (folder / "2026-11-29T10-00-00-b.json").write_text("{}")
        await screens.press("escape")
        text = await screens.press("o")
        assert "2026-11-30 10:00" in text and "lasagne-mlp, keras-mnist-mlp on cuda:0" in text
        assert "12 points" in text and "b.json: it is damaged, or no sweep" in text
        text = await screens.press("c", "c")
        assert "c on another one" not in text  # The same one twice takes the mark back.
        text = await screens.press("down", "enter")
        assert "it is damaged, or no sweep" in text
        text = await screens.press("up", "enter")
        assert isinstance(screens.pilot.app.screen, SweepScreen)
        assert "complete  12 points" in text and "10.20" in text and len(screens.sweeps.begun) == 1
        await screens.press("escape")
        copy = folder / "2026-11-30T11-00-00-c.json"
        copy.write_bytes((folder / "2026-11-30T10-00-00-a.json").read_bytes())
        assert load(copy).complete
        await screens.press("escape", "o", "home", "c", "down")
        text = await screens.press("c")
        assert "two sweeps" in text and "settings: the same" in text and "×1.000" in text


async def test_no_sweeps_yet() -> None:
    async with setup() as screens:
        text = await screens.press("o")
        assert "no sweeps here yet" in text
        assert "esc, then s begins one" in await screens.press("enter")
