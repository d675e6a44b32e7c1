"""The palette finds settings and actions by the words people type for them, the one that is meant first."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from fake_feed import FakeSession, FakeSessions
from gputrain_runner.settings import RULES
from gputrain_tui import key_places, keys, palette_words
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.palette import Command, Everything
from gputrain_tui.screens.ask import AskLine
from recorded_session import replaying
from screen_text import screen_text, training


async def found(pilot: Pilot[None], typed: str) -> list[str]:
    """What the palette finds on the screen there is, best first."""
    provider = Everything(pilot.app.screen)
    hits = [hit async for hit in provider.search(typed)]
    return [str(hit.text) for hit in sorted(hits, key=lambda hit: hit.score, reverse=True)]


def test_words_are_of_what_there_is() -> None:
    assert set(palette_words.ACTIONS) <= {action.id for action in keys.EVERY}
    assert set(palette_words.SETTINGS) == set(RULES)
    assert {name for name, _ in palette_words.VALUES} <= set(RULES)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("mini-batch", "double the batch size"),
        ("minibatch", "double the batch size"),
        ("batch_size", "double the batch size"),
        ("dtype", "the next precision"),
        ("amp", "the next precision"),
        ("bfloat16", "precision: bf16"),
        ("fp16", "precision: fp16"),
        ("half", "precision: fp16"),
        ("dataloader", "data path: loader"),
        ("num_workers", "loader workers: type a value"),
        ("pin_memory", "data path: pinned"),
        ("compile", "execution: compiled"),
        ("torch.compile", "execution: compiled"),
        ("cuda graph", "execution: graph"),
        ("cudagraph", "execution: graph"),
        ("record", "start or complete a recording"),
        ("probe", "measure this machine's ceilings; training waits"),
        ("roofline", "measure this machine's ceilings; training waits"),
        ("bottleneck", "show why it is slow: the whole reasoning"),
        ("profiler", "show why it is slow: the whole reasoning"),
        ("quit", "stop training and leave"),
        ("exit", "stop training and leave"),
        ("resume", "pause, or go on"),
        ("sweep", "measure a grid of presets, sizes and settings"),
        ("replay", "list the recordings"),
        ("nvidia-smi", "show all GPUs and everything known of them"),
        ("vmap", "more models at once"),
        ("inference", "passes: forward"),
        ("threads", "CPU threads: type a value"),
        ("shortcuts", "show this help"),
    ],
)
async def test_the_words_of_a_training(typed: str, first: str) -> None:
    async with training(FakeSession(gpu=True), (80, 24)) as pilot:
        hits = await found(pilot, typed)
        assert hits[:1] == [first], hits[:4]


@pytest.mark.parametrize(
    ("typed", "has"),
    [
        ("dataloader", "loader workers: type a value"),
        ("h2d", "data path: pinned"),
        ("jit", "execution: compiled"),
        ("amp", "precision: bf16"),
        ("omp", "CPU threads: type a value"),
    ],
)
async def test_all_that_a_word_may_mean_is_found(typed: str, has: str) -> None:
    async with training(FakeSession(gpu=True), (80, 24)) as pilot:
        assert has in (await found(pilot, typed))[:6]


async def test_a_value_is_chosen_and_a_number_typed_from_there() -> None:
    session = FakeSession(gpu=True)
    async with training(session, (80, 24)) as pilot:
        await taken(pilot, "cuda graph", "execution: graph")
        assert session.calls == [("change", "execution", "graph")]
        await taken(pilot, "num_workers", "loader workers: type a value")
        assert isinstance(pilot.app.screen, AskLine)
        await pilot.press(*"6", "enter")
        await pilot.pause()
        assert session.calls[1:] == [("change", "workers", 6)]


async def taken(pilot: Pilot[None], typed: str, hit: str) -> None:
    """Type it into the palette and take the first hit, which is that."""
    await pilot.press("ctrl+p")
    await pilot.pause()
    assert isinstance(pilot.app.screen, CommandPalette)
    await pilot.press(*({" ": "space", "_": "underscore"}.get(each, each) for each in typed))
    for _ in range(100):
        await pilot.pause(0.05)
        if hit in screen_text(pilot.app):
            break
    await pilot.press("enter")
    await pilot.pause()
    await pilot.pause()


def offered(pilot: Pilot[None]) -> list[Command]:
    return list(Everything(pilot.app.screen)._commands())


async def test_a_recording_is_offered_what_can_be_done_with_it(tmp_path: Path) -> None:
    session = FakeSession()
    session.run(8)
    async with replaying(session, tmp_path / "x.json") as pilot:
        texts = {command.text for command in offered(pilot)}
        assert {"play twice as fast", "to the next change", "leave the recording", "hold, or go on"} <= texts
        ids = {each.id for each in (*keys.APP, *key_places.PLACES["replay"])}
        refused = {each.does for each in keys.TRAINING if each.id not in ids}
        assert not texts & refused
        assert not any(text.startswith(("device:", "precision:")) for text in texts)


async def test_the_first_screen_offers_recordings_and_a_sweep() -> None:
    async with GpuTrainApp(FakeSessions()).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert (await found(pilot, "benchmark"))[0] == "measure a grid of presets, sizes and settings"
        assert (await found(pilot, "replay"))[0] == "list the recordings"
