"""Random data of the shapes and types that a preset gives, with something in it to learn.

Every input carries a trace of one of the sample's targets under noise: which one is told by its place,
which trace by the target's value. So whatever finds a pattern can learn it: a perceptron, a convolution,
a recurrent network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gputrain_presets.user_data import Numbers, RandomData

from .dataset import Dataset, Split
from .generation import empty, fill_normal, generator

PERIOD = 11
"""A trace repeats after so many inputs: short enough for a convolution to see most of it."""
NOISE = 1.0
"""Standard deviation beside traces of 1."""
TOLD = 0.5
"""Of whole numbers, the share that are the trace; the others are drawn at random."""
LEVELS = 16
"""Levels that a fraction is told apart in where the inputs are whole numbers."""
CHUNK_NUMBERS = 1 << 22
"""Inputs that are made at a time, so that little more memory is used than is kept."""


@dataclass(frozen=True, slots=True)
class Traces:
    """What the inputs show of the targets.

    Attributes:
        owner: (inputs,) int64, the target of which each input carries a trace.
        tick: (inputs,) int64, the place of each input in its target's trace.
        table: (values, PERIOD), the trace of each value of a target, or of a fraction of 1.
    """

    owner: Tensor
    tick: Tensor
    table: Tensor


def load(data: RandomData, model: object) -> Dataset:
    """The data of that seed."""
    traces = _traces(data)
    training = _split(data, traces, data.training_samples, stream=1)
    validation = _split(data, traces, data.validation_samples, stream=4)
    return Dataset(
        training=training,
        validation=validation if len(validation) else None,
        description=f"synthetic: inputs {_words(data.inputs)} with traces of targets {_words(data.targets)}",
        synthetic=True,
    )


def example_inputs(data: RandomData, samples: int) -> Tensor:
    """Inputs of the shape and type that `load` gives, all 0."""
    return torch.zeros(samples, *data.inputs.shape, dtype=getattr(torch, data.inputs.dtype))


def _traces(data: RandomData) -> Traces:
    inputs, targets = math.prod(data.inputs.shape), math.prod(data.targets.shape)
    place = torch.arange(inputs)
    owner, tick = place % targets, place // targets
    leading = data.inputs.shape[: len(data.targets.shape)]
    if leading == data.targets.shape:  # A target for each leading place, as of each word in a sequence.
        owner, tick = place // (inputs // targets), place % (inputs // targets)
    values = data.targets.classes or (1 if data.inputs.classes is None else LEVELS)
    source = generator(data.seed, stream=0)
    if data.inputs.classes is None:
        table = torch.randn(values, PERIOD, generator=source)
    else:
        table = torch.randint(data.inputs.classes, (values, PERIOD), generator=source)
    return Traces(owner, tick % PERIOD, table)


@torch.no_grad()
def _split(data: RandomData, traces: Traces, samples: int, stream: int) -> Split:
    """Samples whose targets come from `stream`, and whose inputs from the next two."""
    inputs = empty(samples, *data.inputs.shape, dtype=data.inputs.dtype)
    targets = empty(samples, *data.targets.shape, dtype=data.targets.dtype)
    _draw(targets, data.targets, data.seed, stream)
    _draw(inputs, data.inputs, data.seed, stream + 1)
    source = generator(data.seed, stream + 2)
    rows = max(1, CHUNK_NUMBERS // traces.owner.numel())
    flat_inputs = inputs.view(samples, math.prod(data.inputs.shape))
    flat_targets = targets.view(samples, math.prod(data.targets.shape))
    for start in range(0, samples, rows):
        _leave(traces, flat_targets[start : start + rows], flat_inputs[start : start + rows], source)
    return Split(inputs, targets)


def _draw(into: Tensor, numbers: Numbers, seed: int, stream: int) -> None:
    if numbers.classes is None:
        fill_normal(into, seed, stream)
    else:
        into.random_(numbers.classes, generator=generator(seed, stream))


def _leave(traces: Traces, targets: Tensor, inputs: Tensor, source: torch.Generator) -> None:
    """Put the traces of (samples, targets) into the noise of (samples, inputs)."""
    owners = targets[:, traces.owner]
    whole = not inputs.is_floating_point()
    if targets.is_floating_point() and not whole:
        inputs.mul_(NOISE).add_(owners * traces.table[0, traces.tick])
        return
    if targets.is_floating_point():
        # Levels that are about equally frequent among standard-normal numbers.
        owners = (torch.special.ndtr(owners) * LEVELS).long().clamp_(0, LEVELS - 1)
    trace = traces.table[owners, traces.tick.expand_as(owners)]
    if whole:
        told = torch.rand(inputs.shape, generator=source) < TOLD
        inputs.copy_(torch.where(told, trace, inputs))
    else:
        inputs.mul_(NOISE).add_(trace)


def _words(numbers: Numbers) -> str:
    classes = "" if numbers.classes is None else f" below {numbers.classes:,}"
    return f"{tuple(numbers.shape)} {numbers.dtype}{classes}"
