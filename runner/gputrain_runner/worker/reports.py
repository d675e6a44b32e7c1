"""From steps to reports: rates, step times, phases and loss over a quarter of a second or so."""

from __future__ import annotations

import math
import time

import torch
from torch import Tensor

from ..protocol import Progress, Started
from ..timeline import Memory, Validation
from .describe import flops_per_sample
from .execution import precision
from .trainer import Trainer

SETTLING_STEPS = 10
SETTLING_S = 0.5
SETTLING_AT_LEAST_STEPS = 3
SETTLING_AT_MOST_S = 2.0


class Settling:
    """Whether enough has passed since a start or a change for a rate to be quoted.

    The first steps allocate memory, choose algorithms and warm caches. Settled means half a second and
    ten steps; where steps are slow, two seconds and three steps.
    """

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Something changed."""
        self._since = time.monotonic()
        self._steps = 0
        self.settled = False

    def count(self, steps: int, now: float) -> bool:
        """Count steps; whether it is settled now."""
        self._steps += steps
        passed_s = now - self._since
        if not self.settled:
            self.settled = (passed_s >= SETTLING_S and self._steps >= SETTLING_STEPS) or (
                passed_s >= SETTLING_AT_MOST_S and self._steps >= SETTLING_AT_LEAST_STEPS
            )
        return self.settled


class LossReader:
    """Brings the loss to the host without making the training wait for the device.

    On a CUDA device the value asked for at one report is read at the next.
    """

    def __init__(self) -> None:
        self._latest: float | None = None
        self._copying: tuple[Tensor, torch.cuda.Event] | None = None

    def read(self, loss: Tensor | None) -> float | None:
        """The newest loss known; None where there is none or it is not a number."""
        if loss is None:
            return None
        if loss.device.type == "cpu":
            return float(loss.item())
        if self._copying and self._copying[1].query():
            self._latest = self._copying[0].item()
            self._copying = None
        if self._copying is None:
            on_host = torch.empty((), dtype=loss.dtype, pin_memory=True)
            on_host.copy_(loss, non_blocking=True)
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(loss.device))
            self._copying = (on_host, event)
        return self._latest


class Window:
    """The steps since the last report."""

    def __init__(self, trainer: Trainer) -> None:
        self.settling = Settling()
        self.steps = 0
        self.samples = 0
        self.validation: Validation | None = None
        """The newest pass that ended since the last report: epochs may be shorter than that."""
        self.loss: float | None = None
        self._trainer = trainer
        self._flops_per_sample: dict[tuple[str, str], int | None] = {}
        self._count_flops()
        self._losses = LossReader()
        self._steady = False

    def unsettle(self) -> None:
        """Forget what was counted: the settings have changed or stepping was interrupted."""
        self._trainer.clock.take(0)
        self.steps = self.samples = 0
        self.settling.begin()
        self._steady = False
        self._losses = LossReader()
        self._count_flops()

    def progress(self, step: int, total_samples: int, timed: bool = True) -> Progress:
        """The report on this window; the next begins.

        Args:
            step: how many steps there were since training began.
            total_samples: how many samples those took.
            timed: whether its steps are what they were timed as; without, no rate and no time is told.
        """
        trainer = self._trainer
        at = time.monotonic()
        active_s = trainer.clock.active_s if timed else 0.0
        step_ms, phases, dispatch_ms = trainer.clock.take(self.steps) if timed else (None, None, None)
        self.loss = self._losses.read(trainer.loss)
        per_s = self.samples / active_s if active_s and self.samples else None
        flops = self._count_flops()
        report = Progress(
            at=at,
            step=step,
            epoch=trainer.order.epochs_done,
            samples=total_samples,
            settings=trainer.settings,
            steady=self._steady and timed,
            samples_per_s=per_s,
            steps_per_s=self.steps / active_s if active_s and self.steps else None,
            step_ms=step_ms,
            loss=finite(self.loss),
            phases=phases,
            dispatch_ms=dispatch_ms,
            flops_per_s=None if per_s is None or flops is None else per_s * flops,
            memory=_memory(trainer.device),
            validation=self.validation,
        )
        # A window is steady only if it was settled before its first step.
        self._steady = self.settling.count(self.steps, at)
        self.steps = self.samples = 0
        self.validation = None
        return report

    def _count_flops(self) -> int | None:
        settings = self._trainer.settings
        key = settings.model_size, settings.passes
        if key not in self._flops_per_sample:
            self._flops_per_sample[key] = flops_per_sample(self._trainer.preset, *key)
        return self._flops_per_sample[key]


def started(trainer: Trainer) -> Started:
    """What is built, just before the first step."""
    dataset = trainer.dataset
    return Started(
        at=time.monotonic(),
        settings=trainer.settings,
        data=dataset.description,
        synthetic=dataset.synthetic,
        parameters=trainer.parameters,
        training_samples=len(dataset.training),
        validation_samples=0 if dataset.validation is None else len(dataset.validation),
        flags=precision.flags(),
    )


def finite(value: float | None) -> float | None:
    """`value`, or None where it is not a number or infinite: JSON has neither."""
    return value if value is not None and math.isfinite(value) else None


def _memory(device: torch.device) -> Memory | None:
    if device.type != "cuda":
        return None
    return Memory(
        allocated_bytes=torch.cuda.memory_allocated(device),
        reserved_bytes=torch.cuda.memory_reserved(device),
        peak_allocated_bytes=torch.cuda.max_memory_allocated(device),
    )
