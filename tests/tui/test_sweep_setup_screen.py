"""Choosing what a sweep is to measure."""

from __future__ import annotations

from pathlib import Path

import pytest

import user_presets
from fake_feed import FakeSessions
from fake_sweeps import FakeSweeps
from gputrain_presets import load as load_preset
from gputrain_runner.paths import sweeps_folder
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.picker import PickerScreen
from sweep_screens import BATCHES, DEVICES, OVER, PASSES, RUNS, SIZES, Screens, setup


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


async def test_it_begins_with_the_marked_preset() -> None:
    sessions, sweeps = FakeSessions(), FakeSweeps()
    async with GpuTrainApp(sessions, sweeps=sweeps).run_test(size=(80, 24)) as pilot:
        screens = Screens(pilot, sweeps, sessions)
        text = await screens.press("down", "ctrl+s")
        assert "presets         keras-mnist-mlp" in text
        assert "2 points, 100 timed steps of each in 2 rounds" in text
        await screens.press("escape")
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_all_that_is_chosen_is_in_the_plan() -> None:
    async with setup() as screens:
        await screens.choose(SIZES, *"all")
        await screens.choose(BATCHES, *"32", "space", *"64")
        await screens.choose(DEVICES, "space", "down", "space")
        await screens.choose(PASSES, "space")
        await screens.choose(OVER, *"precision=fp32,bf16")
        text = await screens.choose(RUNS, *"6")
        points = len(load_preset("lasagne-mlp").size_names) * 2 * 2 * 1 * 2
        assert f"{points} points, 6 timed steps of each" in text
        await screens.press("s")
        plan = screens.plan
        assert len(plan.points) == points and plan.runs == 6 and plan.rounds == 1
        settings = [point.settings for point in plan.points]
        assert {each.device for each in settings} == {"cuda:0", "cpu"}
        assert {each.precision for each in settings} == {"fp32", "bf16"}
        assert {each.batch_size for each in settings} == {32, 64}
        assert {each.passes for each in settings} == {"training"}
        assert screens.sweep.job.path.parent == sweeps_folder()
        assert screens.sweep.job.command[:3] == ["gputrain-tui", "sweep", "lasagne-mlp"]


async def test_what_makes_no_sense_is_refused_in_place() -> None:
    async with setup() as screens:
        text = await screens.choose(BATCHES, *"0")
        assert "--over batch_size: found '0', allowed: a whole number" in text
        text = await screens.press("escape")
        assert "batch sizes     each preset's own" in text
        assert "2 points" in text


async def test_a_process_of_its_own_or_one_for_all() -> None:
    async with setup() as screens:
        text = await screens.press(*["down"] * 9, "enter")
        assert "process         one for all points" in text
        await screens.press("s")
        assert screens.plan.shared


async def test_nothing_is_known_of_devices_before_pytorch_is_loaded() -> None:
    async with setup() as screens:
        screens.sessions.devices = ()
        text = await screens.press("down", "down", "down", "enter")
        assert "PyTorch is still being loaded" in text
        await screens.press("s")
        assert {point.settings.device for point in screens.sweep.plan.points} == {"cuda:0"}


async def test_a_preset_of_ones_own_is_added_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_presets.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    async with setup((160, 40)) as screens:
        await screens.press("f")
        text = await screens.press(*"no.toml", "enter")
        assert "there is no such file" in text
        await screens.press("escape", "f")
        text = await screens.press(*"mine.toml", "enter")
        assert "4 points" in text
        await screens.press("s")
        assert {point.preset for point in screens.plan.points} == {"lasagne-mlp", "mine"}


@pytest.mark.parametrize("size", [(80, 24), (160, 48), (60, 15)])
async def test_the_form_fits(size: tuple[int, int]) -> None:
    async with setup(size) as screens:
        text = await screens.text()
        assert "presets         lasagne-mlp" in text and "enter choose" in text
        assert all(len(line) <= size[0] for line in text.splitlines())
