"""The settings as the user turns them: in force, asked for and not yet in force, and what comes next.

A key must show at once, while the change itself takes effect between two steps: until the feed says what
came of it, a setting is pending, and a further key press goes on from the value that was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_presets import Preset
from gputrain_runner import settings as ladder
from gputrain_runner.feed import Control, Feed
from gputrain_runner.settings import Choice, SettingError, Value
from gputrain_runner.timeline import Change, Entry

from . import format
from .keys import SETTING_KEYS
from .widgets.settings_panel import SettingRow

SHORT_LABELS = {
    "batch_size": "batch",
    "model_size": "size",
    "data_path": "data",
    "precision": "",
    "execution": "",
    "models_at_once": "models",
}
"""Labels for where there is little room; the others' own are short enough."""
FRESH_S = 2.0
"""So long a changed value is shown brighter."""


class SettingDesk:
    """Asks for changes and remembers what is pending."""

    def __init__(self, feed: Feed, control: Control, *, turns: bool = True) -> None:
        """`turns`: whether anything can be turned; a recording's rows have no keys and no neighbours."""
        self._feed = feed
        self._control = control
        self._turns = turns
        self._asked: dict[str, Value] = {}
        self._changed_s: dict[str, float] = {}
        self.cursor = "batch_size"
        """The setting that enter edits."""

    @property
    def preset(self) -> Preset:
        """The preset that is trained, as resolved."""
        return self._feed.context.preset

    def turn(self, name: str, up: bool) -> None:
        """Ask for the neighbour on the ladder; SettingError or Refused says why not."""
        self.ask(name, self._next(name, up))

    def _next(self, name: str, up: bool) -> Value:
        """The neighbour on the ladder; names that cannot work on this device are passed over."""
        current = value = self._sought(name)
        settings, capability = self._feed.settings, self._capability()
        while True:
            value = ladder.step(name, value, up, self._feed.context)
            why = ladder.refusal(settings.with_value(name, value), capability)
            if why is None or not isinstance(ladder.rule(name), Choice):
                return value
            if value == current:
                raise SettingError(why)

    def _capability(self) -> str | None:
        devices, device = self._feed.header.devices, self._feed.settings.device
        return next((known.compute_capability for known in devices if known.device == device), None)

    def enter(self, name: str, text: str) -> None:
        """Ask for the value typed; SettingError says what is allowed."""
        self.ask(name, ladder.parse(name, text.strip().replace("×", "x"), self._feed.context))

    def ask(self, name: str, value: Value) -> None:
        """Ask for a value; nothing where it is in force already."""
        if value == self._sought(name):
            return
        self._control.change(name, value)
        self._asked[name] = value

    def undo(self) -> str:
        """Ask for the last change that worked to be reversed, which is then pending; in words, what it is.

        Refused says why there is none.
        """
        asked = self._control.undo()
        if asked is None:
            return "undoing the last change"
        name, value = asked
        self._asked[name] = value
        return f"undoing: {self.label(name)} back to {format.setting(name, value)}"

    def take(self, entries: Sequence[Entry]) -> None:
        """What came of it: a change that was made or given up is no longer pending."""
        for entry in entries:
            if isinstance(entry, Change):
                self._changed_s[entry.setting] = self._feed.elapsed_s
                if self._asked.get(entry.setting) == entry.to:
                    del self._asked[entry.setting]
        if self._feed.state in ("died", "finished"):
            self._asked.clear()

    @property
    def waits(self) -> bool:
        """Whether anything that was asked for has not come about yet."""
        return bool(self._asked)

    def forget_asked(self) -> None:
        """A new worker starts: what the old one was asked for is not to come any more."""
        self._asked.clear()

    def move_cursor(self, by: int) -> None:
        """Mark another setting; stops at either end."""
        names = self._names
        at = names.index(self.cursor) + by
        self.cursor = names[max(0, min(at, len(names) - 1))]

    def mark(self, name: str) -> None:
        """Mark this one."""
        self.cursor = name

    def label(self, name: str) -> str:
        """The setting's name in words."""
        return ladder.rule(name).label

    def allowed(self, name: str) -> str:
        """In words, what the setting can be."""
        return ladder.rule(name).allowed(self._feed.context)

    def current_text(self, name: str) -> str:
        """The value as it would be typed."""
        return str(self._sought(name))

    def rows(self) -> list[SettingRow]:
        """The settings for the panel, in their order."""
        return [self._row(name) for name in self._names]

    @property
    def _names(self) -> list[str]:
        """The settings that have a meaning for this preset."""
        return [name for name in ladder.RULES if ladder.applies(name, self._feed.context)]

    def _row(self, name: str) -> SettingRow:
        in_force = self._feed.settings.value(name)
        asked = self._asked.get(name)
        value = format.setting(name, in_force)
        label = self.label(name)
        return SettingRow(
            name=name,
            label=label,
            short_label=SHORT_LABELS.get(name, label),
            value=value if asked in (None, in_force) else f"{value} → {format.setting(name, asked)}",
            lower=None if asked is not None else self._neighbour(name, up=False),
            higher=None if asked is not None else self._neighbour(name, up=True),
            keys=SETTING_KEYS[name].shown if self._turns else "",
            by_arrows=not SETTING_KEYS[name].up,
            pending=asked is not None,
            fresh=self._feed.elapsed_s - self._changed_s.get(name, -FRESH_S) < FRESH_S,
        )

    def _neighbour(self, name: str, *, up: bool) -> str | None:
        rule = ladder.rule(name)
        if not self._turns or (isinstance(rule, Choice) and rule.wraps):
            return None
        try:
            value = rule.step(name, self._feed.settings.value(name), up, self._feed.context)
        except SettingError:
            return None
        return format.setting(name, value)

    def _sought(self, name: str) -> Value:
        return self._asked.get(name, self._feed.settings.value(name))
