"""Two sweeps side by side: what was set differently, and what each of their common points came to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..recordings.bootstrap import Ratio, Series, ratio, series
from ..recordings.compare import Difference, NotComparableError
from ..settings import RULES, Settings, Value
from .result import Outcome, PointResult, SweepFile

PRESET = "preset"
"""Compared like a setting, where each of the two sweeps has one."""


class PointRow(Struct, frozen=True, kw_only=True):
    """One point of both sweeps; figures are null where there are none."""

    preset: str
    settings: Settings
    """In A; B's differ in what the two sweeps differ in altogether."""
    a_outcome: Outcome
    b_outcome: Outcome
    a_ms: float | None
    """The median step, all of it: data, copy and optimizer too, as in the rates."""
    b_ms: float | None
    a: Series | None
    """samples/s of whole steps, one by one, as in a sweep's `samples_per_s`."""
    b: Series | None
    ratio: Ratio | None
    """Of samples/s, B over A."""

    @property
    def lost(self) -> bool:
        """Whether it was measured in A, and could not be in B."""
        return self.a_outcome == "ok" and self.b_outcome != "ok"


class SweepComparison(Struct, frozen=True, kw_only=True):
    """What differs, and by how much."""

    a: str
    b: str
    """The files."""
    settings: list[Difference]
    """Settings that have one value all over A and another all over B."""
    measuring: list[Difference]
    machine: list[Difference]
    rows: list[PointRow]
    only_a: list[PointResult]
    """Points that the other sweep has not."""
    only_b: list[PointResult]
    warnings: list[str]

    @property
    def worst(self) -> PointRow | None:
        """The row whose rate fell most; None where no point has two rates."""
        rated = [row for row in self.rows if row.ratio is not None]
        return min(rated, key=lambda row: row.ratio.ratio if row.ratio else 0.0, default=None)


def compare(a: tuple[str, SweepFile], b: tuple[str, SweepFile], anyway: bool = False) -> SweepComparison:
    """The comparison of two sweeps, each with its file's name.

    Raises:
        NotComparableError: they have no point in common, or did different work and it is not wanted
            `anyway`.
    """
    one, other = a[1], b[1]
    differing = _differing(one.points, other.points)
    reasons = _reasons_against(one, other, differing)
    if reasons and not anyway:
        raise NotComparableError(f"not comparable: {'; '.join(reasons)}")
    names = [each.name for each in differing]
    theirs = {_key(point, names): point for point in other.points}
    mine = {_key(point, names): point for point in one.points}
    rows = [_row(point, theirs[key]) for key, point in mine.items() if key in theirs]
    if not rows:
        raise NotComparableError(f"{a[0]} and {b[0]} have no point in common")
    return SweepComparison(
        a=a[0],
        b=b[0],
        settings=[each for each in differing if each.name != PRESET],
        measuring=_differences(_measuring(one), _measuring(other)),
        machine=_differences(_machine(one), _machine(other)),
        rows=rows,
        only_a=[point for key, point in mine.items() if key not in theirs],
        only_b=[point for key, point in theirs.items() if key not in mine],
        warnings=[*reasons, *_unfinished(*a), *_unfinished(*b)],
    )


def _value(point: PointResult, name: str) -> Value:
    return point.preset if name == PRESET else point.settings.value(name)


def _differing(one: Sequence[PointResult], other: Sequence[PointResult]) -> list[Difference]:
    """What has one value in all points of each, but not the same."""
    found = []
    for name in (PRESET, *RULES):
        a, b = ({_value(point, name) for point in points} for points in (one, other))
        if len(a) == len(b) == 1 and a != b:
            found.append(Difference(name=name, a=a.pop(), b=b.pop()))
    return found


def _reasons_against(a: SweepFile, b: SweepFile, differing: Iterable[Difference]) -> list[str]:
    """Why a ratio of their rates would mean nothing."""
    reasons = []
    for each in differing:
        if each.name == PRESET:
            reasons.append(f"the presets differ, {each.a} and {each.b}")
        elif each.name == "passes":
            reasons.append(f"passes differ, {each.a} and {each.b}")
    for name in a.presets.keys() & b.presets.keys():
        if _model(a.presets[name]) != _model(b.presets[name]):
            reasons.append(f"{name} is another model in the two")
    return reasons


def _model(preset: Mapping[str, Any]) -> dict[str, Any]:
    """A preset's model, but for the size that it starts with."""
    return {key: value for key, value in preset.get("model", {}).items() if key != "default_size"}


def _key(point: PointResult, without: Sequence[str]) -> tuple[Value, ...]:
    names = (PRESET, *Settings.__struct_fields__)
    return tuple(_value(point, name) for name in names if name not in without)


def _row(a: PointResult, b: PointResult) -> PointRow:
    one, other = _rates(a), _rates(b)
    return PointRow(
        preset=a.preset,
        settings=a.settings,
        a_outcome=a.outcome,
        b_outcome=b.outcome,
        a_ms=_step_ms(a),
        b_ms=_step_ms(b),
        a=series(one),
        b=series(other),
        ratio=ratio(one, other),
    )


def _step_ms(point: PointResult) -> float | None:
    return None if point.outcome != "ok" or point.step_ms is None else point.step_ms.median


def _rates(point: PointResult) -> list[float]:
    """samples/s of each step."""
    samples = point.settings.batch_size * point.settings.models_at_once
    return [samples / ms * 1e3 for ms in point.times.step if ms > 0]


def _measuring(sweep: SweepFile) -> dict[str, Value]:
    shared = None if sweep.plan is None else "shared" if sweep.plan.shared else "one for each point"
    return {"runs": sweep.runs, "warmup": sweep.warmup, "rounds": sweep.rounds, "process": shared}


def _machine(sweep: SweepFile) -> dict[str, Value]:
    used = {point.settings.device for point in sweep.points}
    names = [device.name or device.device for device in sweep.devices if device.device in used]
    host = sweep.host
    return {
        "devices": ", ".join(names) or None,
        "cpu": host.cpu,
        "cores": host.cores,
        "torch": host.torch,
        "cuda": host.cuda,
        "cudnn": host.cudnn,
        "driver": host.driver,
    }


def _differences(one: Mapping[str, Value], other: Mapping[str, Value]) -> list[Difference]:
    return [Difference(name=n, a=one[n], b=other[n]) for n in one if one[n] != other[n]]


def _unfinished(path: str, sweep: SweepFile) -> list[str]:
    if sweep.complete:
        return []
    return [f"{path} is not complete: {len(sweep.points)} of {sweep.planned} points are measured"]
