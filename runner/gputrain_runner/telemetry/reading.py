"""What the telemetry hands out: one immutable look at all GPUs and the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..hardware import Gpu, HostLoad


@dataclass(frozen=True, slots=True)
class Reading:
    """The last known values. Unknown is None; what it holds is never changed afterwards."""

    gpus: list[Gpu]
    """Every GPU the driver lists, in its order; one that no longer answers stays, with its values None."""
    host: HostLoad
    gpu_absence: str | None
    """Why there are no GPUs, in one line: `ASKING ...` from the start until the driver has answered, the
    cause where it could not; None before the start and while there are GPUs."""
    driver: str | None
    """The driver's version."""
    age_s: float | None
    """Seconds since any GPU's values were taken; None before the first. Grows while the driver is silent."""
    troubles: Mapping[int, str] = field(default_factory=dict)
    """What is wrong with a GPU, in one line, by its index; one that answers to everything is not in it."""
    ages_s: Mapping[int, float | None] = field(default_factory=dict)
    """`age_s` of each GPU by itself, by its index: of one that hangs it grows while the others go on."""
    focused: frozenset[int] | None = None
    """Indices of the GPUs asked at the full rate, the others for an overview; None for all."""


@dataclass(frozen=True, slots=True)
class GpuPart:
    """What the threads that ask the driver have published last."""

    gpus: tuple[Gpu, ...] = ()
    absence: str | None = None
    driver: str | None = None
    taken_s: Mapping[int, float | None] = field(default_factory=dict)
    """When a GPU's values were taken, on the telemetry's clock, by its index."""
    troubles: Mapping[int, str] = field(default_factory=dict)
    focused: frozenset[int] | None = None
