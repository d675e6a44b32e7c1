"""Synthetic regression: standard-normal inputs and what a fixed random network makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gputrain_presets.spec import MlpModel, TeacherData

from .dataset import Dataset, Split
from .generation import empty, fill_normal

HIDDEN_UNITS = 24
HIDDEN_SPREAD = 0.63
"""Standard deviation of tanh of a standard-normal number. Divided by it, what goes into the outputs'
tanh has a standard deviation of about 1: bent clearly, seldom saturated."""
CHUNK = 1 << 16
"""Samples whose targets are computed at a time, so that little more memory is used than is kept."""


@dataclass(frozen=True, slots=True)
class Teacher:
    """tanh(tanh(x · hidden) · output): its targets lie where a tanh output can reach them."""

    hidden: Tensor
    output: Tensor

    def targets(self, inputs: Tensor) -> Tensor:
        """Outputs (samples, outputs) for `inputs` (samples, inputs)."""
        return (inputs @ self.hidden).tanh_().matmul(self.output).tanh_()


def load(data: TeacherData, model: MlpModel) -> Dataset:
    """The data of that seed; of the model only its inputs and outputs matter, not its size."""
    teacher = _teacher(data.seed, model.inputs, model.outputs)
    training = _split(data.training_samples, teacher, data, stream=2)
    validation = _split(data.validation_samples, teacher, data, stream=4)
    return Dataset(
        training=training,
        validation=validation if len(validation) else None,
        description=f"synthetic: {model.inputs} normal inputs, targets of a fixed random network plus noise",
        synthetic=True,
    )


def _teacher(seed: int, inputs: int, outputs: int) -> Teacher:
    hidden, output = torch.empty(inputs, HIDDEN_UNITS), torch.empty(HIDDEN_UNITS, outputs)
    fill_normal(hidden, seed, stream=0)
    fill_normal(output, seed, stream=1)
    return Teacher(hidden / inputs**0.5, output / (HIDDEN_SPREAD * HIDDEN_UNITS**0.5))


@torch.no_grad()
def _split(samples: int, teacher: Teacher, data: TeacherData, stream: int) -> Split:
    """Samples whose inputs come from `stream` and whose noise from the next one."""
    inputs = empty(samples, teacher.hidden.shape[0])
    targets = empty(samples, teacher.output.shape[1])
    fill_normal(inputs, data.seed, stream)
    fill_normal(targets, data.seed, stream + 1)
    targets *= data.noise
    for chunk, wanted in zip(inputs.split(CHUNK), targets.split(CHUNK), strict=True):
        wanted.add_(teacher.targets(chunk))
    return Split(inputs, targets)
