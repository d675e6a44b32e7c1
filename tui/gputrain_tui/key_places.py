"""Which keys act on which screen, and how they read there: the lines of keys and the palette take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import keys
from .keys import Action

ON_RECORDING: tuple[str, ...] = ("gpus", "span", "view_1", "view_2", "view_3", "back", "leave")
"""What else of the training screen acts where a recording is shown: nothing in it can be turned."""
APPLYING: tuple[str, ...] = ("apply_remedy", "undo_remedy")
IN_RECORDING: dict[str, tuple[str, str]] = {
    "pause": ("hold", "hold, or go on"),
    "verdict": ("why", "show why it was slow: the whole reasoning"),
    "back": ("leave", "leave the recording"),
    "leave": ("quit", "leave the program"),
    "close": ("recording", "back to the recording"),
    "gpus_leave": ("quit", "leave the program"),
    "verdict_close": ("recording", "back to the recording"),
    "verdict_leave": ("quit", "leave the program"),
}
"""The word and the sentence of actions that read otherwise where a recording is shown."""


def _of_recording(actions: Sequence[Action]) -> tuple[Action, ...]:
    said = [IN_RECORDING.get(action.id, (action.word, action.does)) for action in actions]
    return tuple(
        replace(action, word=word, does=does) for action, (word, does) in zip(actions, said, strict=True)
    )


PLACES: dict[str, tuple[Action, ...]] = {
    "picker": keys.PICKER,
    "training": keys.TRAINING,
    "gpus": keys.GPUS,
    "verdict": keys.VERDICT,
    "replay": _of_recording(
        [
            keys.by_id("pause"),
            *keys.REPLAY[:-2],
            keys.by_id("verdict"),
            *keys.REPLAY[-2:],
            *map(keys.by_id, ON_RECORDING),
        ]
    ),
    "replay gpus": _of_recording(keys.GPUS),
    "replay verdict": _of_recording([each for each in keys.VERDICT if each.id not in APPLYING]),
    "recordings": keys.RECORDINGS,
    "reading": keys.READING,
    "sweep setup": keys.SWEEP_SETUP,
    "sweep": keys.SWEEP,
    "sweeps": keys.SWEEPS,
}
"""The actions of each screen that are its own; those of `keys.APP` come to each."""
HELP_KEY: dict[str, str] = {"verdict": "f1", "replay verdict": "f1"}
"""The key that leads to the help where `?` means something else."""
PRESETS_WORDS: dict[str, str] = {"recordings": "recordings", "sweep": "sweep"}
"""What the line of keys of the first screen tells of those that work everywhere."""
