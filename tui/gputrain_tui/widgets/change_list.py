"""The changes of a session with their measured effects, and its messages: newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gputrain_runner.timeline import Change, Effect, Entry, Message

from .. import format as text_format
from .lines import Line, Lines, Role, Run
from .text import padded, shorten, width_of, wrapped

_KEPT = 200
"""Entries that are held; older ones can no longer be seen in any terminal."""

_MOST_FOR_CHANGE = 32
"""Cells beyond which a long change does not push the effects of the others to the right."""


@dataclass(slots=True)
class _Item:
    entry: Change | Message
    effect: Effect | None = None
    immeasurable: bool = False
    """It was told that there will be no effect."""


class ChangeList(Lines):
    """`02:01 host → resident   ×1.71 (1.68–1.74)  predicted ×1.6`, as many as fit the height from CSS.

    What did not work, and messages, are told in words on as many lines as they need, two at most.
    """

    DEFAULT_CSS = """
    ChangeList { height: 1fr; }
    """

    def __init__(
        self,
        *,
        empty: str = "no changes yet",
        title: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        """`empty`: what stands there while nothing has happened; `title`: a first row."""
        super().__init__(id=id, classes=classes)
        self._empty = empty
        self._title = title
        self._items: dict[int, _Item] = {}

    def add(self, position: int, entries: Sequence[Entry]) -> None:
        """Take in the timeline's entries, the first of which has this position; others are passed over.

        An effect names the change it belongs to by its position.
        """
        changed = False
        for index, entry in enumerate(entries, position):
            changed = self._take(index, entry) or changed
        while len(self._items) > _KEPT:
            del self._items[next(iter(self._items))]
        if changed:
            self.rebuild()

    def clear(self) -> None:
        """Forget everything: another session is shown from now on."""
        self._items.clear()
        self.rebuild()

    def _take(self, index: int, entry: Entry) -> bool:
        if isinstance(entry, Change | Message):
            self._items[index] = _Item(entry)
            about = entry.change if isinstance(entry, Message) else None
            if about in self._items:
                self._items[about].immeasurable = True
            return True
        if isinstance(entry, Effect):
            item = self._items.get(entry.change) or self._last_unmeasured()
            if item is not None:
                item.effect = entry
                return True
        return False

    def _last_unmeasured(self) -> _Item | None:
        """The change an effect belongs to where positions do not tell, as in a thinned timeline."""
        for item in reversed(self._items.values()):
            if isinstance(item.entry, Change) and item.entry.ok:
                return item if item.effect is None else None
        return None

    def build(self, width: int, height: int) -> Sequence[Line]:
        """The newest entries that fit."""
        lines: list[Line] = [[(self._title, "strong")]] if self._title else []
        if not self._items:
            return [*lines, [(self._empty, "dim")]]
        visible = list(reversed(self._items.values()))[:height]
        if height - len(lines) == 1:
            visible = [self._most_telling()]
        changes = [item.entry for item in visible if isinstance(item.entry, Change) and item.entry.ok]
        column = 2 + max(
            (length for length in map(width_of, map(_told, changes)) if length <= _MOST_FOR_CHANGE), default=0
        )
        for item in visible:
            rows = 2 if height - len(lines) > 2 else 1
            newest = bool(changes) and item.entry is changes[0]
            lines += _lines_of(item, width, rows, newest, column)
            if rows > 1:
                lines += _learnt(item, width)
        return lines[:height]

    def _most_telling(self) -> _Item:
        """What to show on a single line: the newest entry, but before mere news a change that failed, or one
        whose effect is told; until then there is nothing to be read of it but that it is measured."""
        newest = next(reversed(self._items.values()))
        for item in reversed(self._items.values()):
            if isinstance(item.entry, Change):
                return newest if item.entry.ok and item.effect is None else item
            if item.entry.level != "info" and item.entry.change is None:
                break
        return newest


def _told(change: Change) -> str:
    return text_format.setting_change(change.setting, change.from_, change.to)


def _lines_of(item: _Item, width: int, rows: int, newest: bool, column: int) -> list[Line]:
    entry = item.entry
    time = f"{text_format.clock(entry.t)} "
    role: Role
    if isinstance(entry, Message):
        text, role = entry.text, "" if entry.level == "info" else "warning"
    elif not entry.ok:
        text, role = _failure(entry), "warning"
    else:
        return [[(time, "dim"), *_change_runs(item, entry, width - width_of(time), newest, column)]]
    indent = " " * width_of(time)
    return [
        [(time if number == 0 else indent, "dim"), (line, role)]
        for number, line in enumerate(wrapped(text, width - len(indent), rows))
    ]


def _learnt(item: _Item, width: int) -> list[Line]:
    """Where what was predicted missed: why."""
    if item.effect is None or item.effect.learnt is None:
        return []
    indent = " " * width_of(f"{text_format.clock(item.entry.t)} ")
    return [[indent, (line, "dim")] for line in wrapped(item.effect.learnt, width - len(indent), 2)]


def _failure(change: Change) -> str:
    """`batch 65536 → back to 8192: needs about 160 GB, 139 are free`."""
    name = change.setting
    back = text_format.setting_change(name, change.to, f"back to {text_format.setting(name, change.from_)}")
    label = text_format.setting_label(name)
    told = back if back.startswith(label) else f"{label} {back}"
    return f"{told}: {change.error}" if change.error else told


def _change_runs(item: _Item, change: Change, width: int, newest: bool, column: int) -> list[Run]:
    """The change and, in as much detail as fits beside it from `column` on, what it did."""
    text = _told(change)
    role: Role = "strong" if newest else ""
    column = max(column, width_of(text) + 2)
    for beside in _effect_texts(item.effect, measuring=newest and not item.immeasurable):
        if column + sum(width_of(each) for each, _ in beside) <= width:
            return [(padded(text, column), role), *beside]
    return [(shorten(text, width), role)]


def _effect_texts(effect: Effect | None, measuring: bool) -> list[list[tuple[str, Role]]]:
    """What to write beside a change, the most detailed first."""
    if effect is None:
        return [[("measuring" if measuring else "not measured", "dim")]]
    ratio = text_format.ratio(effect.ratio)
    spread = text_format.ratio_spread(effect.ratio, effect.ratio_low, effect.ratio_high)
    role: Role = "strong"
    short: list[tuple[str, Role]] = [(ratio, role)]
    full: list[tuple[str, Role]] = [(ratio, role), (spread.removeprefix(ratio), "dim")]
    if effect.predicted_ratio is None:
        return [full, short]
    predicted: tuple[str, Role] = (f"  predicted {text_format.ratio(effect.predicted_ratio, 2)}", "dim")
    return [[*full, predicted], full, short]
