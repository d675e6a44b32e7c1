"""A fixed number of steps, each timed: one point of a sweep."""

from __future__ import annotations

import time

import torch
from msgspec import structs

from ..protocol import StepsTimed, TimeSteps
from ..settings import Settings, refusal
from . import changes, data, devices, first_batch, peak_memory
from .describe import flops_per_sample
from .execution import precision
from .memory_limit import bounded_memory
from .step_timer import StepTimer
from .trainer import Trainer, free_memory

WARMING_UP = 0.4
"""The share of the time left after building that warming up may take, where steps are long."""
FEWEST = 2
"""So many steps are timed however long they take."""


def time_steps(asked: TimeSteps) -> StepsTimed:
    """Build the point, warm up, and time its steps.

    What fails is an outcome, not an exception: a sweep records it and goes on.
    """
    until = time.monotonic() + asked.seconds
    # Of the exception only text leaves the `except` body: while anything holds the exception, the failed
    # frame's tensors stay alive.
    try:
        with bounded_memory(asked.settings.device):
            return _timed(asked, until)
    except (Exception, SystemExit) as failed:
        error = changes.plain(failed)
    free_memory()
    return _failed(asked.settings, error)


def _timed(asked: TimeSteps, until: float) -> StepsTimed:
    torch.manual_seed(asked.seed)
    settings = asked.settings
    refused = refusal(settings, devices.capability(settings.device))
    if refused is not None:
        return _failed(settings, refused)
    peak_memory.forget(torch.device(settings.device))
    dataset = data.load(asked.preset.data, asked.preset.model)
    if settings.batch_size > len(dataset.training):
        samples = f"{len(dataset.training):,} training samples"
        return _failed(settings, f"larger than the data, which has {samples}")
    # The smaller batch at an epoch's end is another point.
    preset = structs.replace(asked.preset, drop_last=True)
    first_batch.check(preset, dataset, settings)
    trainer = Trainer(preset, dataset, settings, asked.seed)
    try:
        return _measured(trainer, asked, until)
    finally:
        trainer.close()


def _measured(trainer: Trainer, asked: TimeSteps, until: float) -> StepsTimed:
    clock = StepTimer(trainer.device)
    trainer.clock = clock
    began = time.monotonic()
    _run(trainer, asked.warmup, began + (until - began) * WARMING_UP, 1)
    clock.forget()
    began = time.monotonic()
    _run(trainer, asked.runs, until, FEWEST)
    devices.synchronize(trainer.device)
    ended = time.monotonic()
    return _told(trainer, clock, began, ended)


def _told(trainer: Trainer, clock: StepTimer, began: float, ended: float) -> StepsTimed:
    settings = trainer.settings
    trains = settings.passes == "training"
    steps_ms = clock.step_ms()
    samples = len(steps_ms) * settings.batch_size * settings.models_at_once
    return StepsTimed(
        at=ended,
        outcome="ok",
        error=None,
        settings=settings,
        began_at=began,
        forward_ms=[] if trains and clock.launched_whole else clock.forward_ms(),
        forward_backward_ms=clock.forward_backward_ms() if trains else [],
        step_ms=steps_ms,
        samples_per_s=samples / (ended - began),
        peak_memory_bytes=peak_memory.peak_bytes(trainer.device),
        flops_per_sample=flops_per_sample(trainer.preset, settings.model_size, settings.passes),
        flags=precision.flags(),
    )


def _failed(settings: Settings, error: str) -> StepsTimed:
    """Of a point that cannot be measured."""
    return StepsTimed(
        at=time.monotonic(),
        outcome="out_of_memory" if error.startswith("out of memory") else "failed",
        error=error,
        settings=settings,
    )


def _run(trainer: Trainer, steps: int, until: float, fewest: int) -> None:
    """So many steps, or as many as are expected to end in time; an epoch's end is no part of one."""
    began = time.monotonic()
    for done in range(steps):
        if trainer.order.exhausted:
            trainer.begin_epoch()
            trainer.clock.go_on()
        now = time.monotonic()
        if done >= fewest and now + (now - began) / done > until:
            return
        trainer.step()
