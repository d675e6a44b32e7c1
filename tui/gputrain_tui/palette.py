"""The palette: every preset, setting, device and action, found by typing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from gputrain_presets import PresetError, load, names
from gputrain_runner.settings import Choice, Value, rule

from . import format, key_places, keys, palette_words
from .screens.message_line import AnsweringScreen
from .screens.training import TrainingScreen

if TYPE_CHECKING:
    from .app import GpuTrainApp

BY_WORDS = 1.5
"""How well, per letter, something matches by the beginnings of other words for it: better than by letters
scattered over its text, for which Textual gives 1 each, and worse than by a word of the text itself, at more
than 2 each."""
BY_WHOLE_WORDS = 4.0
"""The same where they were typed in full."""
BY_WORDS_AROUND = 3.0
"""The same where some of them are for what it belongs to, not for it alone."""
MOVING = re.compile(r"(?:^|_)(?:up|down|left|right|first|last)$|^(?:move|mark|scroll|cursor|across)\(")
"""What only moves a mark or the text is not looked for in a palette."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that can be chosen."""

    text: str
    about: str
    do: Callable[[], object]
    words: str
    """What else it is found by, beside the text: the name of a device, what people call an action."""
    around: str = ""
    """Words for what it belongs to: for a value those of its setting."""


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
        if isinstance(screen, TrainingScreen) and screen.turns:
            yield from self._devices(screen)
        if isinstance(screen, AnsweringScreen):
            for action in key_places.PLACES[screen.help_place]:
                if action.call != "app.leave(0)" and not MOVING.search(action.call):
                    yield self._command(action)
        if isinstance(screen, TrainingScreen) and screen.turns:
            yield from self._settings(screen)
        for name in names():
            try:
                preset = load(name)
            except PresetError:
                continue
            yield Command(f"preset: {name}", preset.title, partial(app.train, preset), preset.title)
        for action in keys.APP:
            if action.id != "palette":
                yield self._command(action)

    def _devices(self, screen: TrainingScreen) -> Iterator[Command]:
        for device in screen.feed.header.devices:
            about = device.name or "train on this device"
            do = partial(screen.choose, "device", device.device)
            kind = "GPU" if device.device.startswith("cuda") else "processor"
            yield Command(f"device: {device.device}", about, do, f"{about} {kind}")

    def _settings(self, screen: TrainingScreen) -> Iterator[Command]:
        """Every setting's values, and the line in which one is typed."""
        for row in screen.desk.rows():
            of = rule(row.name)
            words = f"{row.name} {palette_words.SETTINGS.get(row.name, '')}"
            values = of.choices(screen.feed.context) if isinstance(of, Choice) else ()
            for value in values if row.name != "device" else ():
                yield self._value(screen, row.name, value, words)
            allowed = screen.desk.allowed(row.name)
            do = partial(screen.type_value, row.name)
            yield Command(f"{row.label}: type a value", f"now {row.value}; {allowed}", do, words)

    def _value(self, screen: TrainingScreen, name: str, value: Value, words: str) -> Command:
        text = f"{screen.desk.label(name)}: {format.setting(name, value)}"
        about = "in force" if screen.feed.settings.value(name) == value else "turn it to this"
        also = palette_words.VALUES.get((name, str(value)), "")
        return Command(text, about, partial(screen.choose, name, value), f"{value} {also}", words)

    def _command(self, action: keys.Action) -> Command:
        do = partial(self.screen.run_action, action.sure or action.call)
        words = [action.id, action.word, palette_words.ACTIONS.get(action.id, "")]
        words += [palette_words.SETTINGS[name] for name in keys.SETTING_KEYS if action.id.startswith(name)]
        return Command(action.does, f"key: {action.shown}", do, " ".join(words))


def _words(text: str) -> list[str]:
    """Its words, in which underscores and hyphens, like spaces, divide."""
    return re.findall(r"[^\W_]+", text.lower())


def _by_words(query: str, command: Command) -> float:
    """Above 0 where every word of the query begins a word of the command."""
    own, wanted = set(_words(f"{command.text} {command.words}")), set(_words(query))
    known = own | set(_words(command.around))
    if not wanted or not all(any(word.startswith(each) for word in known) for each in wanted):
        return 0.0
    whole = BY_WHOLE_WORDS if wanted <= own else BY_WORDS_AROUND if wanted <= known else BY_WORDS
    return whole * len(query)
