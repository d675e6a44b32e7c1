"""The picker: choosing by arrow keys and by typing, opening a file, and what is said of it all."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from fake_feed import FakeSessions
from gputrain_presets import catalog, load, names
from gputrain_tui import preset_text
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.ask import AskLine
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.training import TrainingScreen
from screen_text import screen_text


async def settle(pilot: Pilot[None]) -> str:
    """The screen's text once everything that was asked for is drawn."""
    await pilot.pause()
    await pilot.pause()
    return screen_text(pilot.app)


async def test_enter_trains_the_marked_preset() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [session.preset.name for session in sessions.opened] == [names()[1]]
        assert isinstance(pilot.app.screen, TrainingScreen)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 48)])
async def test_every_preset_is_listed_with_its_parameters(size: tuple[int, int]) -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=size) as pilot:
        text = await settle(pilot)
        for name in names():
            assert f" {name} " in text
        assert "17.1 k" in text and "parameters" in text
        assert "open a file …" in text
        assert "CPU · 2 cores" in text


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (160, 48)])
async def test_no_preset_s_title_is_cut(size: tuple[int, int]) -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=size) as pilot:
        text = await settle(pilot)
        for name in names():
            (row,) = (line for line in text.splitlines() if line[1:].split()[:1] in ([name], ["▸"]))
            preset = load(name)
            assert f" {preset.title.removesuffix(f', batch {preset.batch_size}')} " in row
            await pilot.press("down")
            text = await settle(pilot)


async def test_what_is_published_is_told_whole_or_not_at_all() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        for name in names():
            text = " ".join((await settle(pilot)).split())
            told = [figure for figure in preset_text.published_figures(load(name)) if figure in text]
            assert told or not preset_text.published_figures(load(name))
            for figure in preset_text.published_figures(load(name)):
                assert figure in told or figure.partition(":")[0] not in text
            await pilot.press("down")


async def test_the_origin_is_laid_out_for_the_room_that_is_left_and_says_where_it_is_cut() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        rows = (await settle(pilot)).splitlines()
        first = next(at for at, row in enumerate(rows) if "From a public question" in row)
        last = next(at for at, row in enumerate(rows) if at > first and "──" in row)
        assert rows[last - 1].endswith("…")
        await pilot.resize_terminal(100, 40)
        assert "hidden layers of 15 to 150 units." in " ".join((await settle(pilot)).split())


async def test_a_title_that_is_cut_stands_whole_above_the_details() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(60, 24)) as pilot:
        text = await settle(pilot)
        assert "ELU…" in text.splitlines()[3]
        assert "tiny MLP 75-40-113-76-10, ELU, tanh output" in text


async def test_the_details_follow_the_mark() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        assert "934,918 × 75 float32, synthetic" in await settle(pilot)
        await pilot.press("down")
        text = await settle(pilot)
        assert "60,000 × 784 float32, a synthetic stand-in for MNIST" in text
        assert "100, 750, 1000, 4000, starts with 750" in text
        assert "Nadam, lr 0.002" in text
        assert "103.7 s per 10 epochs" in text


async def test_typing_filters_and_enter_takes_what_is_left() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press(*"mnist")
        text = await settle(pilot)
        assert "filter: mnist" in text
        assert "lasagne-mlp " not in text
        assert "▸ keras-mnist-mlp" in text
        await pilot.press("enter")
        await pilot.pause()
        assert sessions.opened[0].preset.name == "keras-mnist-mlp"


async def test_q_is_a_letter_of_the_filter() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
        assert "filter: q" in await settle(pilot)
        assert pilot.app.is_running


async def test_backspace_erases_and_escape_clears_the_filter() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        await pilot.press(*"xyz", "backspace")
        text = await settle(pilot)
        assert "filter: xy▏" in text
        assert "▸ open a file …" in text
        await pilot.press("escape")
        text = await settle(pilot)
        assert "type to filter" in text
        assert "lasagne-mlp " in text


async def test_a_file_of_ones_own_is_opened(tmp_path: Path) -> None:
    source = Path(catalog.__file__).parent / "lasagne-mlp.toml"
    own = tmp_path / "mine.toml"
    own.write_text(source.read_text(encoding="utf-8").replace('name = "lasagne-mlp"', 'name = "mine"', 1))
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "enter")
        await pilot.pause()
        assert isinstance(pilot.app.screen, AskLine)
        await pilot.press(*str(own), "enter")
        await pilot.pause()
        await pilot.pause()
        assert [session.preset.name for session in sessions.opened] == ["mine"]
        assert isinstance(pilot.app.screen, TrainingScreen)


async def test_a_wrong_file_is_named_in_place_and_can_be_given_up() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "enter")
        await pilot.pause()
        await pilot.press(*"nothing.toml", "enter")
        text = await settle(pilot)
        assert "nothing.toml: there is no such file" in text
        assert isinstance(pilot.app.screen, AskLine)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)
        assert sessions.opened == []


async def test_why_there_is_no_gpu_is_said() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        text = await settle(pilot)
        assert "No NVIDIA GPU: the driver library libnvidia-ml.so.1 was not found." in text


async def test_the_gpu_is_named_once_pytorch_has_told() -> None:
    sessions = FakeSessions(gpu=True)
    devices, sessions.devices = sessions.devices, ()
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        assert "NVIDIA H200" not in await settle(pilot)
        sessions.devices = devices
        screen = pilot.app.screen
        assert isinstance(screen, PickerScreen)
        screen.show_machine()
        assert "NVIDIA H200 · 2 cores" in await settle(pilot)


async def test_a_session_that_cannot_begin_says_why_and_stays() -> None:
    sessions = FakeSessions(refuses="batch_size: found '0', allowed: a whole number from 1 to 934918")
    async with GpuTrainApp(sessions).run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        text = await settle(pilot)
        assert "batch_size: found '0'" in text
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_control_q_leaves_with_0_and_control_c_with_130() -> None:
    for key, code, ended in (("ctrl+q", 0, "finished"), ("ctrl+c", 130, "interrupted")):
        sessions = FakeSessions()
        app = GpuTrainApp(sessions)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press(key)
            await pilot.pause()
        assert app.return_code == code
        assert sessions.left == [ended]
