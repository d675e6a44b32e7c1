"""What is to be measured: a grid spelt out, point by point."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from gputrain_presets import Preset

from ..settings import Settings, Value, initial


class Point(Struct, frozen=True, kw_only=True):
    """One point of the grid."""

    preset: str
    settings: Settings

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it this point."""
        return self.preset, *(self.settings.value(name) for name in Settings.__struct_fields__)

    @property
    def family(self) -> tuple[object, ...]:
        """The same without the batch size: points that differ in nothing else."""
        return self.preset, *(
            self.settings.value(name) for name in Settings.__struct_fields__ if name != "batch_size"
        )


class Plan(Struct, frozen=True, kw_only=True):
    """A sweep as it is asked for."""

    points: list[Point]
    runs: int
    """Timed steps of each point, over all rounds together."""
    warmup: int
    """Steps before them, in each round."""
    rounds: int
    """All points are measured so many times, in turn, so that a drift of the machine hits all alike."""
    point_seconds: float
    """A point that takes longer than that in one round is given up."""
    seed: int = 0


def plan_points(
    presets: Sequence[Preset],
    devices: Sequence[str],
    passes: Sequence[str],
    over: Mapping[str, Sequence[Value]],
    fixed: Mapping[str, Value],
) -> list[Point]:
    """Every combination, presets outermost; within one family of points batch sizes ascend.

    Args:
        presets: as loaded; a preset's default size and batch size hold where none is swept.
        devices: as PyTorch calls them.
        passes: "forward", "training".
        over: settings that vary, with their values.
        fixed: settings that do not.
    """
    points = []
    names = list(over)
    combinations = [dict(zip(names, values, strict=True)) for values in itertools.product(*over.values())]
    for preset, device, varied in itertools.product(presets, devices, combinations):
        settings = initial(preset, device)
        for name, value in {**fixed, **varied}.items():
            settings = settings.with_value(name, value)
        points += [
            Point(preset=preset.name, settings=settings.with_value("passes", which)) for which in passes
        ]
    unique = {point.key: point for point in points}
    return sorted(unique.values(), key=_order(list(unique.values())))


def _order(points: Sequence[Point]) -> Callable[[Point], tuple[int, int]]:
    """As they came, families together, small batches first."""
    first: dict[tuple[object, ...], int] = {}
    for at, point in enumerate(points):
        first.setdefault(point.family, at)
    return lambda point: (first[point.family], point.settings.batch_size)
