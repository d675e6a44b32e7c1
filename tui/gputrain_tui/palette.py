"""The palette: every preset, every device and every action, found by typing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen

from gputrain_presets import PresetError, load, names

from . import keys
from .screens.gpus import GpusScreen
from .screens.message_line import AnsweringScreen
from .screens.picker import PickerScreen
from .screens.training import TrainingScreen

if TYPE_CHECKING:
    from .app import GpuTrainApp

BY_WORDS = 1.5
"""How well, per letter, something matches by other words for it: better than by letters scattered over its
text, for which Textual gives 1 each, and worse than by a word of the text itself, at more than 2 each."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be chosen."""

    text: str
    about: str
    do: Callable[[], object]
    words: str
    """What else it is found by, beside the text: the name of a device, what people call an action."""


class Everything(Provider):
    """What can be done here and now."""

    async def discover(self) -> Hits:
        """All of it, in order."""
        for command in self._commands():
            yield DiscoveryHit(command.text, command.do, help=command.about)

    async def search(self, query: str) -> Hits:
        """What matches by its text or by other words for it, best first."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = max(matcher.match(command.text), _by_words(query, command))
            if score > 0:
                yield Hit(score, matcher.highlight(command.text), command.do, help=command.about)

    def _commands(self) -> Iterator[Command]:
        app = cast("GpuTrainApp", self.app)
        screen = self.screen
        if isinstance(screen, TrainingScreen):
            yield from self._on(screen)
        if isinstance(screen, GpusScreen):
            for action in keys.GPUS:
                if action.id != "gpus_leave":
                    yield self._command(action)
        for action in self._of_sweeps(screen):
            yield self._command(action)
        for name in names():
            try:
                preset = load(name)
            except PresetError:
                continue
            yield Command(f"preset: {name}", preset.title, partial(app.train, preset), preset.title)
        for action in keys.APP:
            if action.id != "palette":
                yield self._command(action)

    def _of_sweeps(self, screen: Screen[Any]) -> Iterator[keys.Action]:
        """What can be done about sweeps; the screens themselves are not imported for it."""
        places = {"sweep setup": keys.SWEEP_SETUP, "sweep": keys.SWEEP, "sweeps": keys.SWEEPS}
        if isinstance(screen, PickerScreen):
            yield keys.by_id("sweep")
        elif isinstance(screen, AnsweringScreen):
            yield from (action for action in places.get(screen.help_place, ()) if action.id != "sweep_leave")

    def _on(self, screen: TrainingScreen) -> Iterator[Command]:
        for device in screen.feed.header.devices:
            about = device.name or "train on this device"
            do = partial(screen.choose_device, device.device)
            kind = "GPU" if device.device.startswith("cuda") else "processor"
            yield Command(f"device: {device.device}", about, do, f"{about} {kind}")
        for action in keys.TRAINING:
            if action.id not in ("cursor_up", "cursor_down", "leave"):
                yield self._command(action)

    def _command(self, action: keys.Action) -> Command:
        do = partial(self.screen.run_action, action.sure or action.call)
        words = f"{action.id.replace('_', ' ')} {action.word} {action.also}"
        return Command(action.does, f"key: {action.shown}", do, words)


def _by_words(query: str, command: Command) -> float:
    """Above 0 where every word of the query begins a word of the command."""
    known = re.findall(r"\w+", f"{command.text} {command.words}".lower())
    wanted = re.findall(r"\w+", query.lower())
    found = wanted and all(any(word.startswith(each) for word in known) for each in wanted)
    return BY_WORDS * len(query) if found else 0.0
