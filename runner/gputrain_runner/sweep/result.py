"""What came of a sweep: its points and the lines through them, in a file that is whole after each point."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Literal

import msgspec
from msgspec import Struct

from ..documents import SWEEP, what_it_is
from ..settings import Settings
from ..timeline import Device, Flags, Host
from .plan import Plan

Outcome = Literal["ok", "out_of_memory", "failed", "timed_out"]
NOISY = 0.10
"""An interquartile range beyond this share of the median: something else used the machine."""


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
    """Why there are no figures; where there are some, why there are none of its last round."""
    runs: int
    """Timed steps."""
    rounds: int
    """How many times it was measured, or tried to be."""
    ms: Ms | None = None
    """Forward with the loss for passes forward, forward and backward for training."""
    forward_ms: Ms | None = None
    """Null in training where forward, backward and optimizer are launched as one: see `flags`, execution."""
    forward_backward_ms: Ms | None = None
    """With the optimizer where all is launched as one."""
    step_ms: Ms | None = None
    """All of the step: data, copy and optimizer too."""
    samples_per_s: float | None = None
    """By the median step."""
    ms_per_sample: float | None = None
    peak_memory_bytes: int | None = None
    flops_per_s: float | None = None
    share_of_ceiling: float | None = None
    """Of the matrix-product rate that the probe measured on this device; null without a probe."""
    ceiling_noisy: bool = False
    """That probe's figures were not to be trusted: the share is about so much."""
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

    schema: Literal["gputrain-sweep"] = SWEEP
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
    presets: dict[str, Any] = {}
    """Each preset as it was resolved, by the name that the points give."""
    plan: Plan | None = None
    """What is to be measured in all, to go on from."""


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


def save(path: Path, sweep: SweepFile) -> None:
    """Write it beside and put it in the old one's place: a reader finds the one or the other, whole.

    Raises:
        SweepFileError: it cannot be written; the old one stays.
    """
    beside = path.with_name(f".{path.name}.new")
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(_readable(sweep))
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
        plain = msgspec.json.decode(content)
        schema, version = (plain.get(name) if isinstance(plain, dict) else None for name in _NAMES)
        if schema != SWEEP:
            raise SweepFileError(f"{path} is no sweep: {what_it_is(schema)}; {_WHAT_TO_DO}")
        if version != 1:
            text = f"its version is {version}, this program reads 1: update gputrain-tui"
            raise SweepFileError(f"{path}: {text}")
        return msgspec.convert(plain, SweepFile)
    except msgspec.ValidationError as error:
        raise SweepFileError(f"{path}: it is damaged, or no sweep: {error}; {_WHAT_TO_DO}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise SweepFileError(f"{path} is no sweep: it is not JSON, or cut off; {_WHAT_TO_DO}") from None


_NAMES = ("schema", "version")
_WHAT_TO_DO = "name a file that `gputrain-tui sweep` wrote"


def _readable(sweep: SweepFile) -> bytes:
    """Indented JSON, each list of numbers on one line."""
    text = msgspec.json.format(msgspec.json.encode(sweep), indent=1)
    return re.sub(rb"\[[\d\s.,eE+-]+\]", lambda found: b" ".join(found[0].split()), text) + b"\n"
