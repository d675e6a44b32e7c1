"""Published figures beside what a session measured: as rates, which can be compared whatever their unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gputrain_presets import Preset, figures
from gputrain_presets.spec import Published

from ..recordings.bootstrap import Series
from .story import Story, Stretch


@dataclass(frozen=True, slots=True)
class Beside:
    """A published figure, and what is measured nearest to it."""

    figure: Published
    published_samples_per_s: float | None
    """The figure as a rate; None where its unit is words."""
    measured: Series | None
    """Samples/s."""
    stretch: Stretch | None
    """Where that was measured."""

    @property
    def ratio(self) -> float | None:
        """Measured over published."""
        if self.measured is None or not self.published_samples_per_s:
            return None
        return self.measured.median / self.published_samples_per_s


def as_rate(figure: Published, preset: Preset) -> float | None:
    """A published figure in samples/s; None where its unit is words that are not understood."""
    if figure.unit == "ms":
        return figure.batch_size / figure.value * 1e3
    if figure.unit in ("images/s", "samples/s"):
        return figure.value
    epochs = re.match(r"s per (\d+) epochs?\b", figure.unit)
    if epochs is not None:
        return int(epochs[1]) * preset.data.training_samples / figure.value
    return None


def beside(story: Story) -> list[Beside]:
    """Each published figure near the session's settings, with the stretch that is nearest to it."""
    preset = story.preset
    if preset is None:
        return []
    found: dict[int, Beside] = {}
    for stretch in story.stretches:
        settings = stretch.settings
        passes: Literal["training", "forward"] = "forward" if settings.passes == "forward" else "training"
        if settings.models_at_once > 1:
            continue
        for figure in figures.near(preset, settings.model_size, settings.batch_size, passes):
            place = preset.published.index(figure)
            pair = Beside(figure, as_rate(figure, preset), story.rate(stretch), stretch)
            if place not in found or _nearer(pair, found[place]):
                found[place] = pair
    return [found[place] for place in sorted(found)]


def _nearer(one: Beside, other: Beside) -> bool:
    """Whether the first was measured nearer to the figure's batch size; of equals the later one."""
    if one.measured is None or other.measured is None:
        return one.measured is not None
    return _apart(one) <= _apart(other)


def _apart(pair: Beside) -> float:
    assert pair.stretch is not None
    sizes = (pair.figure.batch_size, pair.stretch.settings.batch_size)
    return max(sizes) / min(sizes)
