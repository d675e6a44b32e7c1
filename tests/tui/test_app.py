"""What works on every screen: help, palette, leaving, and an error in the app itself."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from fake_feed import FakeSession, FakeSessions
from gputrain_runner.timeline import Entry
from gputrain_tui import keys
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens import help as help_screen
from gputrain_tui.screens.help import HelpScreen
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.widgets.lines import Lines
from screen_text import screen_rows, screen_text


async def search(pilot: Pilot[None], text: str) -> None:
    """Open the palette, type, and take the first hit."""
    await pilot.press("ctrl+p")
    await pilot.pause()
    assert isinstance(pilot.app.screen, CommandPalette)
    await pilot.press(*text)
    # The palette searches in a task of its own, after a moment without typing.
    for _ in range(100):
        await pilot.pause(0.05)
        if text.split(maxsplit=1)[-1] in screen_text(pilot.app).split("\n", 4)[-1]:
            break
    await pilot.press("enter")
    await pilot.pause()
    await pilot.pause()


def test_every_key_means_one_thing_on_a_screen() -> None:
    for place in (keys.PICKER, keys.TRAINING, keys.GPUS):
        used = Counter(key for action in (*place, *keys.APP) for key in action.keys)
        assert [key for key, times in used.items() if times > 1] == []


def test_the_help_lists_every_action_and_none_twice_in_one_place() -> None:
    places = [(*place, ("ANYWHERE", help_screen.ANYWHERE)) for place in help_screen.PLACES.values()]
    listed = [
        Counter(action for _, rows in place for actions, _ in rows for action in actions) for place in places
    ]
    assert all(max(counts.values()) == 1 for counts in listed)
    every = {action.id for action in (*keys.PICKER, *keys.TRAINING, *keys.GPUS, *keys.APP)}
    assert every <= set().union(*listed)


async def test_the_telemetry_begins_after_the_first_frame() -> None:
    sessions = FakeSessions()
    app = GpuTrainApp(sessions)
    assert sessions.frames == 0
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert sessions.frames == 1


@pytest.mark.parametrize(
    ("live", "word", "foreign"),
    [(None, "train the marked preset", "double, halve"), (FakeSession(), "double, halve", "marked preset")],
)
async def test_the_help_is_of_the_screen_it_was_asked_for_on(
    live: FakeSession | None, word: str, foreign: str
) -> None:
    async with GpuTrainApp(FakeSessions(), live).run_test(size=(100, 60)) as pilot:
        await pilot.pause()
        under = pilot.app.screen
        await pilot.press("question_mark")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)
        text = pilot.app.screen.query_one("#help-text", Lines).text
        assert word in text
        assert foreign not in text
        for meaning in ("host time", "device time", "utilisation", "busy", "steady", "effect"):
            assert meaning in text
        await pilot.press("question_mark")
        await pilot.pause()
        assert pilot.app.screen is under


async def test_the_palette_starts_a_preset() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions).run_test(size=(100, 30)) as pilot:
        await search(pilot, "preset: keras-mnist")
        assert [session.preset.name for session in sessions.opened] == ["keras-mnist-mlp"]
        assert isinstance(pilot.app.screen, TrainingScreen)


async def test_the_palette_changes_the_preset_of_a_session() -> None:
    sessions = FakeSessions()
    async with GpuTrainApp(sessions, FakeSession()).run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await search(pilot, "preset: keras-mnist")
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        assert screen.desk.preset.name == "keras-mnist-mlp"
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, PickerScreen)


async def test_the_palette_chooses_a_device() -> None:
    session = FakeSession(gpu=True)
    async with GpuTrainApp(FakeSessions(gpu=True), session).run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await search(pilot, "device: cpu")
        assert session.calls == [("change", "device", "cpu")]


async def test_the_palette_does_what_a_key_does() -> None:
    session = FakeSession()
    async with GpuTrainApp(FakeSessions(), session).run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await search(pilot, "double the batch size")
        assert session.calls == [("change", "batch_size", 2048)]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("quit", "stop training and leave"),
        ("restart", "start a new worker with the same settings"),
        ("model size", "the next larger model"),
        ("H200", "device: cuda:0"),
        ("gpu", "show all GPUs"),
        ("gpu", "device: cuda:0"),
        ("probe", "measure this machine's ceilings"),
        ("record", "start or complete a recording"),
    ],
)
async def test_the_palette_finds_things_by_the_words_people_use(typed: str, found: str) -> None:
    session = FakeSession(gpu=True)
    async with GpuTrainApp(FakeSessions(gpu=True), session).run_test(size=(100, 40)) as pilot:
        await pilot.pause()
        await pilot.press("ctrl+p")
        await pilot.pause()
        await pilot.press(*("space" if letter == " " else letter for letter in typed))
        for _ in range(100):
            await pilot.pause(0.05)
            if found in screen_text(pilot.app).split("\n", 4)[-1]:
                break
        assert found in screen_text(pilot.app)


async def test_what_the_palette_ends_in_so_many_words_needs_no_second_press() -> None:
    session = FakeSession()
    session.run(4)
    async with GpuTrainApp(FakeSessions(), session).run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        screen.pull()
        await search(pilot, "start a new worker")
        assert session.calls == [("restart",)]


async def test_an_error_in_the_app_ends_it_and_is_kept() -> None:
    class Broken(FakeSession):
        broken = False

        def read(self, position: int) -> tuple[list[Entry], int]:
            if self.broken:
                raise RuntimeError("a screw is loose")
            return [], position

    session = Broken()
    app = GpuTrainApp(FakeSessions(), session)
    with pytest.raises(RuntimeError, match="a screw is loose"):
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.pause()
            session.broken = True
            screen = app.screen
            assert isinstance(screen, TrainingScreen)
            screen.call_later(screen.pull)
            await pilot.pause()
    assert app.return_code == 1
    assert str(app.crash) == "a screw is loose"


async def test_ascii_characters_alone_where_the_terminal_has_no_others() -> None:
    session = FakeSession(gpu=True)
    session.run(20)
    session.add_effect(session.make_change("batch_size", 2048), 1.71)
    session.run(5)
    try:
        for size in ((80, 24), (160, 48)):
            async with GpuTrainApp(FakeSessions(), session, "ascii").run_test(size=size) as pilot:
                screen = pilot.app.screen
                await pilot.pause()
                await pilot.pause()
                screen = pilot.app.screen
                assert isinstance(screen, TrainingScreen)
                screen.pull()
                screen.redraw()
                await pilot.pause()
                assert screen_text(pilot.app).isascii()
                await pilot.press("question_mark")
                await pilot.pause()
                assert screen_text(pilot.app).isascii()
    finally:
        GpuTrainApp(FakeSessions())  # Back to the usual characters, for the tests that follow.


async def test_without_colour_the_terminals_own_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    session = FakeSession(gpu=True)
    session.run(5)
    async with GpuTrainApp(FakeSessions(), session).run_test(size=(160, 48)) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        screen.pull()
        screen.redraw()
        await pilot.pause()
        styles = [style for row in screen_rows(pilot.app) for _, style, _ in row if style is not None]
        colours = {
            colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None
        }
        assert all(colour.is_default for colour in colours)
        assert any(style.bold for style in styles)
