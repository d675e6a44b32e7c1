"""A fixed number of steps, each timed: one point of a sweep."""

from __future__ import annotations

import resource
import time

import torch

from ..protocol import StepsTimed, TimeSteps
from . import changes, data, first_batch
from .describe import flops_per_sample
from .devices import synchronize
from .execution import precision
from .memory_limit import bounded_memory
from .phases import PhaseClock
from .trainer import Trainer, free_memory


class StepTimer(PhaseClock):
    """A phase clock that times every step and keeps each one's times."""

    def forget(self) -> None:
        """Begin anew; what went before was warming up."""
        synchronize(self._device)
        self._collect_events()
        self._done, self._device_ms = [], []
        self.active_s = 0.0
        self.go_on()

    def forward_ms(self) -> list[float]:
        """Forward with the loss, of each step: between the device's events, on a CPU of the host."""
        return self._between("forward")

    def forward_backward_ms(self) -> list[float]:
        """Forward and backward."""
        return self._between("forward", "backward")

    def step_ms(self) -> list[float]:
        """The whole step, from the end of the one before."""
        return [(marks[-1] - marks[0]) * 1e3 for marks in self._done]

    def _between(self, *phases: str) -> list[float]:
        self._collect_events()
        if self._on_cuda:
            return [sum(step[phase] for phase in phases) for step in self._device_ms]
        first, last = {"forward": (3, 4), "backward": (4, 5)}, phases[-1]
        return [(marks[first[last][1]] - marks[first[phases[0]][0]]) * 1e3 for marks in self._done]


def time_steps(asked: TimeSteps) -> StepsTimed:
    """Build the point, warm up, and time its steps.

    What fails is an outcome, not an exception: a sweep records it and goes on.
    """
    # Of the exception only text leaves the `except` body: while anything holds the exception, the failed
    # frame's tensors stay alive.
    try:
        with bounded_memory(asked.settings.device):
            return _timed(asked)
    except (Exception, SystemExit) as failed:
        error = changes.plain(failed)
    free_memory()
    return StepsTimed(
        at=time.monotonic(),
        outcome="out_of_memory" if error.startswith("out of memory") else "failed",
        error=error,
        settings=asked.settings,
    )


def _timed(asked: TimeSteps) -> StepsTimed:
    torch.manual_seed(asked.seed)
    preset, settings = asked.preset, asked.settings
    dataset = data.load(preset.data, preset.model)
    if settings.batch_size > len(dataset.training):
        text = f"larger than the data, which has {len(dataset.training):,} training samples"
        return StepsTimed(at=time.monotonic(), outcome="failed", error=text, settings=settings)
    first_batch.check(preset, dataset, settings)
    trainer = Trainer(preset, dataset, settings, asked.seed)
    try:
        refused = changes.refusal(trainer, settings)
        if refused is not None:
            return StepsTimed(at=time.monotonic(), outcome="failed", error=refused, settings=settings)
        clock = StepTimer(trainer.device)
        trainer.clock = clock
        if trainer.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(trainer.device)
        _run(trainer, asked.warmup, asked.seconds)
        clock.forget()
        began = time.monotonic()
        _run(trainer, asked.runs, asked.seconds)
        synchronize(trainer.device)
        whole_s = time.monotonic() - began
        steps = clock.step_ms()
        training = settings.passes == "training"
        return StepsTimed(
            at=time.monotonic(),
            outcome="ok",
            error=None,
            settings=trainer.settings,
            forward_ms=clock.forward_ms(),
            forward_backward_ms=clock.forward_backward_ms() if training else [],
            step_ms=steps,
            samples_per_s=len(steps) * settings.batch_size * settings.models_at_once / whole_s,
            peak_memory_bytes=_peak_bytes(trainer.device),
            flops_per_sample=flops_per_sample(preset, settings.model_size, settings.passes),
            flags=precision.flags(),
        )
    finally:
        trainer.close()


def _run(trainer: Trainer, steps: int, seconds: float) -> None:
    """So many steps, or fewer where they take longer than that; an epoch's end is no part of one."""
    until = time.monotonic() + seconds
    for done in range(steps):
        if trainer.order.exhausted:
            trainer.begin_epoch()
            trainer.clock.go_on()
        trainer.step()
        if done and time.monotonic() > until:
            break


def _peak_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
