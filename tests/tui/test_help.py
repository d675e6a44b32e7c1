"""The help of each place lists the keys that act there, all of them, and no other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fake_feed import FakeSession, FakeSessions
from gputrain_tui import key_places, keys
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens import help as help_screen
from gputrain_tui.screens.gpus import GpusScreen
from gputrain_tui.screens.help import HelpScreen
from gputrain_tui.screens.message_line import AnsweringScreen
from gputrain_tui.screens.picker import PickerScreen
from gputrain_tui.screens.reading import ReadingScreen
from gputrain_tui.screens.recordings import RecordingsScreen
from gputrain_tui.screens.replay import ReplayScreen
from gputrain_tui.screens.sweep import SweepScreen
from gputrain_tui.screens.sweep_setup import SweepSetupScreen
from gputrain_tui.screens.sweeps import SweepsScreen
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.screens.verdict import VerdictScreen
from gputrain_tui.widgets.lines import Lines
from recorded_session import replaying

SCREENS: dict[str, type[AnsweringScreen]] = {
    "picker": PickerScreen,
    "training": TrainingScreen,
    "gpus": GpusScreen,
    "verdict": VerdictScreen,
    "replay": ReplayScreen,
    "replay gpus": GpusScreen,
    "replay verdict": VerdictScreen,
    "recordings": RecordingsScreen,
    "reading": ReadingScreen,
    "sweep setup": SweepSetupScreen,
    "sweep": SweepScreen,
    "sweeps": SweepsScreen,
}


def listed(place: str) -> Counter[str]:
    """The ids of the actions in the help of a place, but for what works everywhere."""
    return Counter(each for _, rows in help_screen.PLACES[place] for actions, _ in rows for each in actions)


def bound(screen: type[AnsweringScreen]) -> dict[str, set[str]]:
    """The keys of each action of ours that a screen binds, its own and inherited ones."""
    found: dict[str, set[str]] = {}
    merged = screen._merged_bindings
    assert merged is not None
    for key, bindings in merged.key_to_bindings.items():
        for binding in bindings:
            if binding.id is not None:
                found.setdefault(binding.id, set()).add(key)
    return found


def test_every_place_has_a_help_and_a_screen() -> None:
    assert set(SCREENS) == set(help_screen.PLACES) == set(key_places.PLACES)


@pytest.mark.parametrize("place", SCREENS)
def test_the_help_lists_what_acts_there_once(place: str) -> None:
    actions = [action.id for action in key_places.PLACES[place]]
    assert listed(place) == Counter(actions)


def test_everywhere_is_listed_once() -> None:
    rows = Counter(each for actions, _ in help_screen.ANYWHERE for each in actions)
    assert rows == Counter(action.id for action in keys.APP)


@pytest.mark.parametrize("place", SCREENS)
def test_what_is_listed_is_bound_and_can_be_done(place: str) -> None:
    screen = SCREENS[place]
    keys_of = bound(screen)
    for action in key_places.PLACES[place]:
        assert keys_of[action.id] == set(action.keys), action.id
        for call in filter(None, (action.call, action.sure)):
            name = call.partition("(")[0]
            holder = GpuTrainApp if name.startswith("app.") else screen
            assert hasattr(holder, f"action_{name.removeprefix('app.')}"), call


@pytest.mark.parametrize("place", SCREENS)
def test_what_is_bound_is_listed_but_for_what_a_recording_refuses(place: str) -> None:
    unlisted = set(bound(SCREENS[place])) - set(listed(place))
    if place == "replay":
        assert unlisted == {action.id for action in keys.TRAINING} - set(listed(place))
        assert {"apply", "undo", "edit", "restart", "record", "probe", "cursor_up"} <= unlisted
    else:
        assert unlisted == ({"apply_remedy", "undo_remedy"} if place == "replay verdict" else set())


@pytest.mark.parametrize("place", SCREENS)
def test_a_key_means_one_thing_in_a_place(place: str) -> None:
    used = Counter(key for action in (*key_places.PLACES[place], *keys.APP) for key in action.keys)
    twice = {key for key, times in used.items() if times > 1}
    assert twice == ({"question_mark"} if place in key_places.HELP_KEY else set())


@pytest.mark.parametrize("place", SCREENS)
async def test_every_key_of_an_action_is_written(place: str) -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(100, 50)) as pilot:
        await pilot.app.push_screen(HelpScreen(place))
        await pilot.pause()
        await pilot.pause()
        text = pilot.app.screen.query_one("#help-text", Lines).text
        own = text.partition("ANYWHERE")[0].split()
        for action in key_places.PLACES[place]:
            assert set(action.every_key) <= set(own), action.id
        (row,) = [row for row in text.splitlines() if row.rstrip().endswith("this help")]
        assert ("?" in row) is (place not in key_places.HELP_KEY)
        assert "f1" in row


@pytest.mark.parametrize(("keys_there", "heading"), [(("v",), "WHY IT WAS SLOW"), (("g",), "GPUS OF")])
async def test_a_recordings_screens_have_their_own(
    keys_there: tuple[str, ...], heading: str, tmp_path: Path
) -> None:
    session = FakeSession(gpu=True)
    session.run(8)
    async with replaying(session, tmp_path / "x.json", 7.0) as pilot:
        for key in (*keys_there, "f1"):
            await pilot.press(key)
            await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)
        await pilot.pause()
        assert pilot.app.screen.query_one("#help-text", Lines).text.startswith(heading)
