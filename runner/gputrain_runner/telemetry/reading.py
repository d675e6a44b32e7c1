"""What the telemetry hands out: one immutable look at all GPUs and the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..timeline import Gpu, HostLoad


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
    """Seconds since the GPU values were taken; None before the first. It grows while the driver is silent."""
    troubles: Mapping[int, str] = field(default_factory=dict)
    """What is wrong with a GPU, in one line, by its index; one that answers to everything is not in it."""


@dataclass(frozen=True, slots=True)
class GpuPart:
    """What the thread that asks the driver has published last."""

    gpus: tuple[Gpu, ...] = ()
    absence: str | None = None
    driver: str | None = None
    taken_s: float | None = None
    """When the values were taken, on the telemetry's clock."""
    troubles: Mapping[int, str] = field(default_factory=dict)
