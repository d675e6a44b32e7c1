"""The palette: every preset, every device and every action, found by typing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from gputrain_presets import PresetError, load, names

from . import keys
from .screens.training import TrainingScreen

if TYPE_CHECKING:
    from .app import GpuTrainApp

Command = tuple[str, str, Callable[[], object]]
"""What is listed, a line about it, and what it does."""


class Everything(Provider):
    """What can be done here and now."""

    async def discover(self) -> Hits:
        """All of it, in order."""
        for text, about, do in self._commands():
            yield DiscoveryHit(text, do, help=about)

    async def search(self, query: str) -> Hits:
        """What matches, best first."""
        matcher = self.matcher(query)
        for text, about, do in self._commands():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), do, help=about)

    def _commands(self) -> Iterator[Command]:
        app = cast("GpuTrainApp", self.app)
        screen = self.screen
        if isinstance(screen, TrainingScreen):
            yield from self._on(screen)
        for name in names():
            try:
                preset = load(name)
            except PresetError:
                continue
            yield f"preset: {name}", preset.title, partial(app.train, preset)
        for action in keys.APP:
            if action.id != "palette":
                yield self._command(action)

    def _on(self, screen: TrainingScreen) -> Iterator[Command]:
        for device in screen.feed.header.devices:
            about = device.name or "train on this device"
            yield f"device: {device.device}", about, partial(screen.choose_device, device.device)
        for action in keys.TRAINING:
            if action.id not in ("cursor_up", "cursor_down", "leave"):
                yield self._command(action)

    def _command(self, action: keys.Action) -> Command:
        return action.does, f"key: {action.shown}", partial(self.screen.run_action, action.call)
