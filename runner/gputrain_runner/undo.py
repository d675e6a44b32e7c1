"""The changes on their way to the worker, and those that can be undone."""

from __future__ import annotations

from dataclasses import dataclass

from .protocol import Changed
from .settings import Value


@dataclass(frozen=True, slots=True, eq=False)
class AskedChange:
    """A change of one setting."""

    setting: str
    from_: Value
    to: Value


class ChangeLog:
    """Remembers what was asked for, told apart by when (`asked_at`), until the worker has answered."""

    def __init__(self) -> None:
        self._on_way: dict[float, tuple[AskedChange, AskedChange | None]] = {}
        """What was asked for, and what it is to undo."""
        self._undoable: list[AskedChange] = []

    def asked(self, change: AskedChange, asked_at: float, undoes: AskedChange | None = None) -> None:
        """A change was sent to the worker."""
        self._on_way[asked_at] = (change, undoes)
        if undoes is None:
            self._undoable.append(change)
        else:
            self._undoable.remove(undoes)

    def answered(self, changed: Changed) -> None:
        """The worker made a change or gave it up; one that nobody asked for was scheduled."""
        asked = self._on_way.pop(changed.asked_at, None)
        made = AskedChange(changed.setting, changed.from_, changed.to)
        if asked is None:
            if changed.ok:
                self.made(made)
        elif not changed.ok:
            self._take_back(*asked)
        elif asked[0] in self._undoable:
            # What it really came from: a change asked for before it may have failed.
            self._undoable[self._undoable.index(asked[0])] = made

    def made(self, change: AskedChange) -> None:
        """A change was made that nobody has to answer."""
        self._undoable.append(change)

    def wanted(self, setting: str, in_force: Value) -> Value:
        """The value a setting will have once everything on its way is made."""
        values = [change.to for change, _ in self._on_way.values() if change.setting == setting]
        return values[-1] if values else in_force

    def last(self) -> AskedChange | None:
        """The last change that has not been undone; None where there is none."""
        return self._undoable[-1] if self._undoable else None

    def lost(self) -> None:
        """What is on its way will not arrive: the worker has gone."""
        for change, undoes in self._on_way.values():
            self._take_back(change, undoes)
        self._on_way.clear()

    def _take_back(self, change: AskedChange, undoes: AskedChange | None) -> None:
        if undoes is not None:
            self._undoable.append(undoes)
        elif change in self._undoable:
            self._undoable.remove(change)
