"""Several changes before one step: made at once, and where that cannot work, those of them that can."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from msgspec import structs

from ..protocol import Changed
from ..settings import Settings, Value
from ..timeline import Flags
from .changes import attempt, refusal, trial
from .trainer import Trainer


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the changes."""

    errors: dict[str, str] = field(default_factory=dict)
    """By setting, why it has its value from before; empty where all changes were made."""
    samples: int = 0
    """Training samples of the first step under those that were made; 0 where none was."""
    preparation_ms: float | None = None
    """How much of the time went into compiling or capturing; None where nothing was."""

    def answers(
        self,
        asked: Mapping[str, Value],
        asked_at: float,
        step: int,
        before: Settings,
        now: Settings,
        flags: Flags | None,
    ) -> Iterator[Changed]:
        """What is said of each change, of those that were made first.

        Args:
            asked: the changes; `asked_at` when.
            step: the first step under them.
            before: the settings they were to alter; `now`: those in force.
            flags: PyTorch's switches, where any was altered; they go with the last that was made.
        """
        done_at = time.monotonic()
        made = [setting for setting in asked if setting not in self.errors]
        for setting in [*made, *self.errors]:
            yield Changed(
                asked_at=asked_at,
                done_at=done_at,
                step=step,
                setting=setting,
                from_=before.value(setting),
                to=asked[setting],
                ok=setting in made,
                error=self.errors.get(setting),
                settings=now,
                preparation_ms=self.preparation_ms if setting in made else None,
                flags=flags if made[-1:] == [setting] else None,
            )


def make(trainer: Trainer, asked: Mapping[str, Value]) -> Outcome:
    """Change settings to the values asked for and run the first step under all of them.

    Where they do not work together, it is found out which do, in the order in which they were asked for,
    and those are made. The others leave everything as it was.

    Raises:
        WorkerBrokenError: a change failed, and so did the way back.
    """
    before = trainer.settings
    kept, errors = dict(asked), dict[str, str]()
    if refusal(trainer, structs.replace(before, **kept)) is not None:
        kept, errors = _agreeing(kept, before, partial(refusal, trainer))
    if not kept:
        return Outcome(errors)
    outcome = attempt(trainer, structs.replace(before, **kept))
    if outcome.error is not None and len(kept) > 1:
        kept, failed = _agreeing(kept, before, partial(trial, trainer))
        errors |= failed
        if not kept:
            return Outcome(errors)
        outcome = attempt(trainer, structs.replace(before, **kept))
    if outcome.error is not None:
        errors |= dict.fromkeys(kept, outcome.error)
    return Outcome(errors, outcome.samples, outcome.preparation_ms)


def _agreeing(
    asked: Mapping[str, Value], before: Settings, why_not: Callable[[Settings], str | None]
) -> tuple[dict[str, Value], dict[str, str]]:
    """Those of the changes that can be made, each on top of those before it; why not, of the others.

    One that cannot be made (tf32 on a CPU) is looked at again after one that can (the GPU).
    """
    kept: dict[str, Value] = {}
    waiting, errors = dict(asked), dict[str, str]()
    while True:
        for name, to in waiting.items():
            why = why_not(structs.replace(before, **{**kept, name: to}))
            if why is None:
                break
            errors[name] = why
        else:
            return kept, errors
        kept[name] = waiting.pop(name)
        errors.pop(name, None)
