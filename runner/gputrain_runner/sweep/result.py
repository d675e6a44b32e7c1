"""What came of a sweep: its points and the lines through them, in a file that is whole after each point."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Literal

import msgspec
from msgspec import Struct

from ..settings import Settings
from ..step_fit import StepFit, fit
from ..timeline import Device, Flags, Host

Outcome = Literal["ok", "out_of_memory", "failed", "timed_out"]
NOISY = 0.10
"""An interquartile range beyond this share of the median: something else used the machine."""
FEWEST_FOR_FIT = 3


class Ms(Struct, frozen=True, kw_only=True):
    """Times of a number of steps, in milliseconds."""

    median: float
    iqr: float
    min: float
    max: float


class Times(Struct, frozen=True, kw_only=True):
    """Every step's times in ms, in the order they were taken."""

    forward: list[float] = []
    forward_backward: list[float] = []
    step: list[float] = []


class PointResult(Struct, frozen=True, kw_only=True):
    """One point. Figures are null where the outcome is not "ok"."""

    preset: str
    settings: Settings
    """As asked for."""
    passes: str
    outcome: Outcome
    error: str | None
    runs: int
    """Timed steps."""
    rounds: int
    """How many times it was measured."""
    ms: Ms | None = None
    """Forward with the loss for passes forward, forward and backward for training."""
    forward_ms: Ms | None = None
    forward_backward_ms: Ms | None = None
    step_ms: Ms | None = None
    """All of the step: data, copy and optimizer too."""
    samples_per_s: float | None = None
    """By the median step."""
    ms_per_sample: float | None = None
    peak_memory_bytes: int | None = None
    flops_per_s: float | None = None
    share_of_ceiling: float | None = None
    """Of the matrix-product rate that the probe measured on this device; null without a probe."""
    noisy: bool = False
    telemetry: dict[str, float] | None = None
    """Means over the time of its steps: utilisation, clocks, power and the like; what was not known is
    absent."""
    actual: Settings | None = None
    """The settings that were in force."""
    flags: Flags | None = None
    times: Times = Times()

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it this point."""
        return self.preset, *(self.settings.value(name) for name in Settings.__struct_fields__)


class Fit(Struct, frozen=True, kw_only=True):
    """The line t(b) = a + c*b through the points that differ in batch size alone."""

    preset: str
    settings: Settings
    """Of its first point; the batch size in it means nothing."""
    passes: str
    over: Literal["batch_size"] = "batch_size"
    a_ms: float
    c_ms: float
    half: float | None
    """n1/2 = a / c: the batch at which half the time is the step's own cost."""
    batch_sizes: list[int]
    ms: list[float]
    residuals: list[float]
    """(measured - fitted) / measured."""
    best: int
    """The batch size with the least time per sample."""
    worse_than_fit: list[int]
    """Batch sizes that take clearly longer than the line says."""
    better_than_fit: list[int]
    bend: int | None
    """The smallest batch at which 90 % of the best samples/s are reached."""


class SweepFile(Struct, frozen=True, kw_only=True):
    """A whole sweep, as it lies in its file."""

    schema: Literal["gputrain-sweep"] = "gputrain-sweep"
    version: Literal[1] = 1
    started_at: str
    command: list[str] = []
    host: Host
    devices: list[Device] = []
    planned: int
    """Points there are to be."""
    complete: bool = False
    runs: int
    warmup: int
    rounds: int
    points: list[PointResult] = []
    fits: list[Fit] = []


class SweepFileError(ValueError):
    """A sweep's file that cannot be read or written; the text is one line that names it."""


def ms_of(values: Sequence[float]) -> Ms | None:
    """Median, interquartile range and extremes; None of nothing."""
    if not values:
        return None
    if len(values) == 1:
        return Ms(median=values[0], iqr=0.0, min=values[0], max=values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Ms(median=median(values), iqr=high - low, min=min(values), max=max(values))


def fits_of(points: Sequence[PointResult]) -> list[Fit]:
    """The lines through every family of three batch sizes or more."""
    families: dict[tuple[object, ...], list[PointResult]] = {}
    for point in points:
        if point.outcome == "ok" and point.step_ms is not None:
            at = msgspec.structs.replace(point.settings, batch_size=0)
            key = point.preset, *(at.value(name) for name in Settings.__struct_fields__)
            families.setdefault(key, []).append(point)
    return [made for family in families.values() if (made := _fit(family)) is not None]


def _fit(family: Sequence[PointResult]) -> Fit | None:
    ordered = sorted(family, key=lambda point: point.settings.batch_size)
    if len({point.settings.batch_size for point in ordered}) < FEWEST_FOR_FIT:
        return None
    batches = [point.settings.batch_size for point in ordered]
    times = [point.ms.median for point in ordered if point.ms is not None]
    line: StepFit | None = fit(batches, times)
    if line is None:
        return None
    best = min(range(len(batches)), key=lambda at: times[at] / batches[at])
    rate = batches[best] / times[best]
    out = line.standing_out
    return Fit(
        preset=ordered[0].preset,
        settings=ordered[0].settings,
        passes=ordered[0].passes,
        a_ms=line.a_ms,
        c_ms=line.c_ms,
        half=line.half,
        batch_sizes=batches,
        ms=times,
        residuals=line.residuals,
        best=batches[best],
        worse_than_fit=[batches[at] for at in out if line.residuals[at] > 0],
        better_than_fit=[batches[at] for at in out if line.residuals[at] < 0],
        bend=next((b for b, ms in zip(batches, times, strict=True) if b / ms >= 0.9 * rate), None),
    )


def save(path: Path, sweep: SweepFile) -> None:
    """Write it beside and put it in the old one's place: a reader finds the one or the other, whole.

    Raises:
        SweepFileError: it cannot be written; the old one stays.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(sweep), indent=1))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise SweepFileError(f"{path}: {error.strerror}: choose another place") from None


def load(path: Path) -> SweepFile:
    """A sweep from its file.

    Raises:
        SweepFileError: it is not there, or no sweep.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SweepFileError(f"{path}: {error.strerror}") from None
    try:
        schema = msgspec.json.decode(content, type=_Schema).schema
        if schema != "gputrain-sweep":
            raise SweepFileError(f"{path} is no sweep: its schema is {schema!r}")
        return msgspec.json.decode(content, type=SweepFile)
    except msgspec.ValidationError as error:
        raise SweepFileError(f"{path}: it is damaged, or no sweep: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise SweepFileError(f"{path} is no sweep: it is not JSON") from None


class _Schema(Struct, frozen=True):
    schema: str | None = None
