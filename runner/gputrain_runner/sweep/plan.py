"""What is to be measured: a grid spelt out, point by point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct, structs

from gputrain_presets import Preset

from ..options import AUTO
from ..protocol import Hello
from ..settings import Settings, Value, initial

_MORE_IS_MORE = ("batch_size", "models_at_once")
"""Settings of which a larger value takes more memory, all else being equal."""


class PlanError(ValueError):
    """A plan that cannot be carried out here; the text is one line for the user."""


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

    def takes_more_than(self, other: Point) -> bool:
        """Whether it surely takes at least as much memory as the other, which is not itself."""
        mine, theirs = self.settings, other.settings
        names = [name for name in Settings.__struct_fields__ if name not in (*_MORE_IS_MORE, "passes")]
        return (
            self != other
            and self.preset == other.preset
            and all(mine.value(name) == theirs.value(name) for name in names)
            and mine.batch_size >= theirs.batch_size
            and mine.models_at_once >= theirs.models_at_once
            and (mine.passes == "training" or theirs.passes == "forward")
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
    shared: bool = False
    """One process for all points; else each has a fresh one, so that nothing depends on what ran before."""

    def runs_in(self, number: int) -> int:
        """How many of a point's timed steps fall into that round, counted from 0."""
        return max(1, self.runs * (number + 1) // self.rounds - self.runs * number // self.rounds)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A preset of a sweep, and how it is varied."""

    name: str
    """What the sweep calls it."""
    preset: Preset
    values: Mapping[str, Sequence[Value]]
    """The settings that are not as it starts, each with the values that it takes."""

    @property
    def combinations(self) -> int:
        """How many combinations of these there are."""
        return math.prod(len(values) for values in self.values.values())


def plan_points(chosen: Sequence[Chosen], devices: Sequence[str], passes: Sequence[str]) -> list[Point]:
    """Every combination, presets outermost; within one family of points batch sizes ascend.

    Args:
        chosen: the presets; where neither is varied, a preset's default size and batch size hold.
        devices: as PyTorch calls them; AUTO for the best.
        passes: "forward", "training".
    """
    points = []
    for each in chosen:
        names = list(each.values)
        for device, values in itertools.product(devices, itertools.product(*each.values.values())):
            settings = initial(each.preset, device)
            for name, value in zip(names, values, strict=True):
                settings = settings.with_value(name, value)
            points += [
                Point(preset=each.name, settings=settings.with_value("passes", which)) for which in passes
            ]
    unique = list({point.key: point for point in points}.values())
    return sorted(unique, key=_order(unique))


def _order(points: Sequence[Point]) -> Callable[[Point], tuple[int, int]]:
    """As they came, families together, small batches first."""
    first: dict[tuple[object, ...], int] = {}
    for at, point in enumerate(points):
        first.setdefault(point.family, at)
    return lambda point: (first[point.family], point.settings.batch_size)


def on_devices(plan: Plan, hello: Hello) -> Plan:
    """The plan with the best device where none is named.

    Raises:
        PlanError: one of its devices is not there.
    """
    there = [device.device for device in hello.devices]
    for point in plan.points:
        wanted = point.settings.device
        if wanted != AUTO and wanted not in there:
            because = f"; {hello.cuda_absence}" if hello.cuda_absence and wanted != "cpu" else ""
            raise PlanError(f"there is no device {wanted}; there are {', '.join(there)}{because}")
    placed = [
        structs.replace(point, settings=point.settings.with_value("device", there[0]))
        if point.settings.device == AUTO
        else point
        for point in plan.points
    ]
    return structs.replace(plan, points=list({point.key: point for point in placed}.values()))
