"""Samples: the worker's half, the steps, put together with the telemetry's, host and GPUs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from .protocol import Progress
from .settings import Settings
from .telemetry.reading import Reading
from .timeline import Gpu, HostLoad, Sample


class TelemetrySource(Protocol):
    """What a session needs of the telemetry."""

    def latest(self) -> Reading:
        """The last known values, at once."""

    def watch(self, worker_pid: int | None) -> None:
        """Say whose CPU time and memory are the worker's; nothing is known of one that has gone."""

    def focus(self, uuids: Collection[str]) -> None:
        """Say which GPUs train: the others need not be looked at as often."""


NOTHING = Reading(gpus=[], host=HostLoad(), gpu_absence=None, driver=None, age_s=None)
"""What is known where nothing is measured."""


def of_steps(progress: Progress, t: float, step: int, epoch: int, gpus: list[Gpu], host: HostLoad) -> Sample:
    """The sample of some steps; `step` and `epoch` count from the session's beginning."""
    return Sample(
        t=t,
        step=step,
        epoch=epoch,
        settings=progress.settings,
        steady=progress.steady,
        samples_per_s=progress.samples_per_s,
        steps_per_s=progress.steps_per_s,
        step_ms=progress.step_ms,
        loss=progress.loss,
        phases=progress.phases,
        dispatch_ms=progress.dispatch_ms,
        busy=progress.busy,
        profile=progress.profile,
        flops_per_s=progress.flops_per_s,
        memory=progress.memory,
        validation=progress.validation,
        trained_s=progress.trained_s,
        gpus=gpus,
        host=host,
    )


def without_steps(
    t: float, step: int, epoch: int, settings: Settings, gpus: list[Gpu], host: HostLoad
) -> Sample:
    """The sample of a time without a report of steps: what host and GPUs did all the same."""
    return Sample(
        t=t,
        step=step,
        epoch=epoch,
        settings=settings,
        steady=False,
        gpus=gpus,
        host=host,
    )
