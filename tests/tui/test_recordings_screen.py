"""The list of recordings: what it says of each, and replaying and comparing from it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from fake_feed import FakeSessions
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.reading import ReadingScreen
from gputrain_tui.screens.recordings import RecordingsScreen
from gputrain_tui.screens.replay import ReplayScreen
from past_recordings import H200, record
from screen_text import screen_text

SIZES = [(80, 24), (160, 48)]
TRIES = 200


async def until(pilot: Pilot[None], what: str) -> str:
    """The screen's text once it says that; the folder is read in a thread."""
    text = ""
    for _ in range(TRIES):
        await pilot.pause(0.01)
        text = screen_text(pilot.app)
        if what in text:
            return text
    raise AssertionError(f"{what!r} did not come; the screen says:\n{text}")


@asynccontextmanager
async def listed(size: tuple[int, int], what: str = "started (UTC)") -> AsyncIterator[Pilot[None]]:
    """The list, opened from the picker by its key, once it says that."""
    async with GpuTrainApp(FakeSessions()).run_test(size=size) as pilot:
        await pilot.press("ctrl+o")
        await until(pilot, what)
        assert isinstance(pilot.app.screen, RecordingsScreen)
        yield pilot


def rows(text: str) -> list[str]:
    """The rows of the list, without their signs."""
    return [row[3:] for row in text.splitlines() if row[3:].startswith("2026-")]


@pytest.mark.parametrize("size", SIZES)
async def test_the_newest_stands_first_with_all_that_is_known_of_it(
    folder: Path, size: tuple[int, int]
) -> None:
    record(folder / "a.json", "2026-11-29T08:00:00.000+00:00")
    record(folder / "b.json", "2026-11-30T10:12:05.000+00:00", device=H200, preset="keras-mnist-mlp")
    record(folder / "c.json", "2026-11-30T09:00:00.000+00:00", ends=False)
    record(folder / "d.json", "2026-11-30T11:00:00.000+00:00", ends=False, untouched_s=0.0)
    async with listed(size) as pilot:
        text = screen_text(pilot.app)
        cpu = "cpu EPYC 9V74"
        assert [row.split("  ")[0] for row in rows(text)] == [
            "2026-11-30 11:00",
            "2026-11-30 10:12",
            "2026-11-30 09:00",
            "2026-11-29 08:00",
        ]
        newest, over, killed, oldest = rows(text)
        assert cpu in newest and "being written" in newest and newest.endswith("n/a")
        assert "keras-mnist-mlp" in over and "H200" in over and over.endswith("1,000")
        assert "lasagne-mlp" in killed and "no end" in killed
        assert cpu in oldest and "00:00:01" in oldest
        assert "▸ 2026-11-30 11:00" in text
        assert all("…" not in row for row in rows(text))


@pytest.mark.parametrize("size", SIZES)
async def test_an_empty_folder_says_so_and_what_makes_a_recording(
    folder: Path, size: tuple[int, int]
) -> None:
    async with listed(size, "no recordings here yet: c on the training screen makes one") as pilot:
        await pilot.press("enter", "c", "down")
        assert isinstance(pilot.app.screen, RecordingsScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_a_folder_that_is_not_there_is_an_empty_one(folder: Path) -> None:
    folder.rmdir()
    async with listed((80, 24), "no recordings here yet"):
        pass


@pytest.mark.parametrize("size", SIZES)
async def test_enter_replays_the_marked_one_and_escape_comes_back_to_it(
    folder: Path, size: tuple[int, int]
) -> None:
    record(folder / "a.json", "2026-11-29T08:00:00.000+00:00", batch_size=4096)
    record(folder / "b.json", "2026-11-30T08:00:00.000+00:00")
    async with listed(size) as pilot:
        await pilot.press("down", "enter")
        await until(pilot, "batch 4096")
        assert isinstance(pilot.app.screen, ReplayScreen)
        await pilot.press("escape")
        assert "▸ 2026-11-29 08:00" in await until(pilot, "started (UTC)")
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_coming_back_the_folder_is_read_anew_and_the_mark_stays(folder: Path) -> None:
    record(folder / "a.json", "2026-11-29T08:00:00.000+00:00")
    async with listed((80, 24)) as pilot:
        await pilot.press("enter")
        await until(pilot, "replay")
        record(folder / "b.json", "2026-11-30T08:00:00.000+00:00")
        await pilot.press("escape")
        text = await until(pilot, "2026-11-30 08:00")
        assert "▸ 2026-11-29 08:00" in text


@pytest.mark.parametrize("size", SIZES)
async def test_two_are_chosen_and_compared_within_the_screen(folder: Path, size: tuple[int, int]) -> None:
    record(folder / "a.json", "2026-11-29T08:00:00.000+00:00")
    fast = [2000.0 + n % 5 for n in range(40)]
    record(folder / "b.json", "2026-11-30T08:00:00.000+00:00", rates=fast, batch_size=2048)
    async with listed(size) as pilot:
        await pilot.press("down", "c")
        assert "c on another one compares it with a.json" in await until(pilot, "c on another one")
        await pilot.press("up")
        assert "= 2026-11-29 08:00" in await until(pilot, "▸ 2026-11-30 08:00")
        await pilot.press("c")
        text = await until(pilot, "two recordings")
        assert isinstance(pilot.app.screen, ReadingScreen)
        (rate,) = (row.split() for row in text.splitlines() if row.strip().startswith("samples/s"))
        assert rate[1:4] == ["1,002", "2,002", "×1.998"] and rate[-1] == "more"
        assert "batch size  1,024  →  2,048" in text
        await pilot.press(*["down"] * 30)
        assert all("…" not in row for row in screen_text(pilot.app).splitlines()[2:-3] if "×" in row)
        await pilot.press("escape")
        text = await until(pilot, "▸ 2026-11-30 08:00")
        assert "= " not in text and "c on another one" not in text


async def test_the_same_one_twice_takes_the_choice_back(folder: Path) -> None:
    record(folder / "a.json")
    async with listed((80, 24)) as pilot:
        await pilot.press("c")
        await until(pilot, "c on another one")
        await pilot.press("c")
        await pilot.pause()
        assert "c on another one" not in screen_text(pilot.app)
        assert isinstance(pilot.app.screen, RecordingsScreen)


async def test_two_that_did_different_work_say_why_they_are_not_compared(folder: Path) -> None:
    record(folder / "a.json", "2026-11-29T08:00:00.000+00:00")
    record(folder / "b.json", "2026-11-30T08:00:00.000+00:00", preset="keras-mnist-mlp")
    async with listed((80, 24)) as pilot:
        await pilot.press("c", "down", "c")
        await until(pilot, "not comparable: the presets differ")
        assert isinstance(pilot.app.screen, RecordingsScreen)


@pytest.mark.parametrize("size", SIZES)
async def test_a_broken_file_is_one_line_and_opens_nothing(folder: Path, size: tuple[int, int]) -> None:
    record(folder / "good.json")
    (folder / "broken.json").write_text('{"what": ["is this?"]}')
    (folder / "empty.json").write_text("")
    async with listed(size) as pilot:
        text = screen_text(pilot.app)
        for name in ("broken.json", "empty.json"):
            assert text.count(f"{name}: no recording") == 1
        assert len(rows(text)) == 1
        for key in ("enter", "c"):
            await pilot.press("end", key)
            assert "broken.json: no recording" in (await until(pilot, "▸ broken.json")).splitlines()[-2]
            assert isinstance(pilot.app.screen, RecordingsScreen)


async def test_a_file_that_is_gone_by_now_is_said_to_be(folder: Path) -> None:
    path = record(folder / "a.json")
    async with listed((80, 24)) as pilot:
        path.unlink()
        await pilot.press("enter")
        await until(pilot, "a.json: there is no such file")
        assert isinstance(pilot.app.screen, RecordingsScreen)


async def test_a_long_list_scrolls_below_its_heads(folder: Path) -> None:
    for day in range(1, 29):
        record(folder / f"{day}.json", f"2026-11-{day:02}T08:00:00.000+00:00")
    async with listed((80, 24)) as pilot:
        await pilot.press("end")
        text = await until(pilot, "▸ 2026-11-01")
        assert "started (UTC)" in text and "2026-11-28" not in text
        await pilot.press("home")
        assert "2026-11-01" not in await until(pilot, "▸ 2026-11-28")
