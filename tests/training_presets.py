"""The built-in presets with little data, for tests that must be fast."""

from __future__ import annotations

from msgspec import structs

import gputrain_presets
from gputrain_presets import Preset


def small(name: str, training_samples: int = 2000, validation_samples: int = 300) -> Preset:
    """A built-in preset with less data and batches of 64."""
    preset = gputrain_presets.load(name)
    less = structs.replace(
        preset.data, training_samples=training_samples, validation_samples=validation_samples
    )
    return structs.replace(preset, data=less, batch_size=64)
