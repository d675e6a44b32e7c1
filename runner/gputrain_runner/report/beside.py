"""Published figures beside what was measured: as rates, which can be compared whatever their unit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gputrain_presets import Preset
from gputrain_presets.spec import Published

from ..settings import Settings
from ..sweep.result import SweepFile
from .story import Story, resolved


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate that was measured here."""

    settings: Settings
    samples_per_s: float


@dataclass(frozen=True, slots=True)
class Beside:
    """A published figure, and what was measured here nearest to it."""

    figure: Published
    published_samples_per_s: float | None
    """The figure as a rate; None where its unit is words that are not understood."""
    measured: Measured

    @property
    def ratio(self) -> float | None:
        """Measured over published."""
        published = self.published_samples_per_s
        return self.measured.samples_per_s / published if published else None


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


def of_session(story: Story) -> list[Beside]:
    """Each published figure for what a session trained, with the rate measured nearest to its batch size."""
    preset = story.preset
    if preset is None:
        return []
    rates = [(stretch, story.rate(stretch)) for stretch in story.stretches]
    measured = [
        Measured(stretch.settings, rate.median) for stretch, rate in rates if rate is not None and rate.median
    ]
    return _pairs(preset, measured)


def of_sweep(sweep: SweepFile) -> dict[str, list[Beside]]:
    """The same for a sweep, by the names its points give the presets; forward and backward alone count."""
    found: dict[str, list[Beside]] = {}
    for name, told in sweep.presets.items():
        preset = resolved(told)
        measured = [
            Measured(point.settings, point.settings.batch_size / point.ms.median * 1e3)
            for point in sweep.points
            if point.preset == name and point.ms is not None and point.ms.median > 0
        ]
        pairs = [] if preset is None else _pairs(preset, measured)
        if pairs:
            found[name] = pairs
    return found


def _pairs(preset: Preset, measured: Sequence[Measured]) -> list[Beside]:
    """In the order in which the preset has them; what nothing like it was measured for is left out."""
    pairs = []
    for figure in preset.published:
        size = figure.size or preset.model.default_size
        alike = [
            each
            for each in measured
            if (each.settings.model_size, each.settings.passes) == (size, figure.passes)
            and each.settings.models_at_once == 1
        ]
        if alike:
            pairs.append(Beside(figure, as_rate(figure, preset), _nearest(alike, figure.batch_size)))
    return pairs


def _nearest(measured: Iterable[Measured], batch_size: int) -> Measured:
    """Of each device what was measured nearest to that batch size; of these the fastest device's."""

    def apart(each: Measured) -> tuple[float, float]:
        sizes = each.settings.batch_size, batch_size
        return max(sizes) / min(sizes), -each.samples_per_s

    nearest: dict[str, Measured] = {}
    for each in sorted(measured, key=apart):
        nearest.setdefault(each.settings.device, each)
    return max(nearest.values(), key=lambda each: each.samples_per_s)
