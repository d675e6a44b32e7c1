"""Published figures to set beside what is measured: those for the same network at the nearest batch size."""

from __future__ import annotations

from typing import Literal

from .spec import Preset, Published


def near(
    preset: Preset, size: str, batch_size: int, passes: Literal["training", "forward"]
) -> list[Published]:
    """For each card and framework the figure whose batch size is nearest, by ratio; nearest first.

    Only figures of that size of the model and of those passes are taken; of two as near, the one with
    the larger batch.
    """
    nearest: dict[tuple[str, str], Published] = {}
    for figure in preset.published:
        if (figure.size or preset.model.default_size) != size or figure.passes != passes:
            continue
        key = (figure.hardware, figure.framework)
        if key not in nearest or _apart(figure, batch_size) < _apart(nearest[key], batch_size):
            nearest[key] = figure
    return sorted(nearest.values(), key=lambda figure: _apart(figure, batch_size))


def _apart(figure: Published, batch_size: int) -> tuple[float, int]:
    """By what factor the batch sizes differ, and what decides where that is the same."""
    larger, smaller = max(figure.batch_size, batch_size), min(figure.batch_size, batch_size)
    return larger / smaller, -figure.batch_size
