"""What a preset's sizes amount to, without training them: parameters, tensors and FLOPs per sample."""

from __future__ import annotations

import traceback
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from gputrain_presets import Preset, PresetError
from gputrain_presets.user_models import UserModel

from ..protocol import SizeFacts
from . import data, flop_formulas, models

SAMPLES = 2
"""Counted together and divided: batch normalisation cannot train on one sample."""
LARGEST_ON_CPU = 20_000_000
"""Parameters up to which a model is counted with zeros on the CPU, else without storage. That is as
exact, but the first operation without storage makes PyTorch import `torch._dynamo`: a second."""


flop_formulas.register()


class FlopCounter(TorchDispatchMode):
    """Counts FLOPs as PyTorch's `FlopCounterMode` does, by its formulas; a test holds the two together.

    Its own mode imports `torch._dynamo` at the first operation, which takes a second.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops: int = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # Asking for it is what imports torch._dynamo; nothing is compiled in here.

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operation and add its FLOPs, where PyTorch has a formula for it."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        formula = flop_registry.get(func._overloadpacket)
        if formula is not None:
            self.flops += formula(*args, **kwargs, out_val=out)
        return out


def describe(preset: Preset) -> list[SizeFacts]:
    """Every size of the preset as built, in the file's order."""
    return [_facts(preset, size) for size in preset.size_names]


def training_flops_per_sample(preset: Preset, size: str) -> int | None:
    """FLOPs of one sample's forward and backward pass; as `flops_per_sample`."""
    return flops_per_sample(preset, size, "training")


def flops_per_sample(preset: Preset, size: str, passes: str) -> int | None:
    """FLOPs of one sample in a step with these `passes`; the model's inputs need no gradient.

    None where a user's own model cannot be counted.

    A multiplication or an addition is one FLOP. What PyTorch has formulas for counts, matrix products,
    convolutions and attention: not activations, the loss or the optimizer.
    """
    backward = passes == "training"
    if isinstance(preset.model, UserModel):
        try:
            with torch.random.fork_rng(devices=[]):
                model = models.build(preset.model, size)
        except PresetError:
            return None
        return _users_flops(model, preset, backward)
    return _flops(_without_storage(preset, size), preset, backward)


def _facts(preset: Preset, size: str) -> SizeFacts:
    users = isinstance(preset.model, UserModel)
    model = models.build(preset.model, size) if users else _without_storage(preset, size)
    parameters = list(model.parameters())
    count = _users_flops if users else _flops
    return SizeFacts(
        name=size,
        parameters=sum(parameter.numel() for parameter in parameters),
        tensors=len(parameters),
        forward_flops_per_sample=count(model, preset, backward=False),
    )


def _without_storage(preset: Preset, size: str) -> nn.Module:
    with torch.device("meta"):
        return models.build(preset.model, size)


def _flops(model: nn.Module, preset: Preset, backward: bool) -> int:
    """FLOPs per sample; leaves the random state as it was."""
    count = sum(parameter.numel() for parameter in model.parameters())
    device = torch.device("meta" if count > LARGEST_ON_CPU else "cpu")
    with device:
        inputs = models.example_inputs(preset.model, SAMPLES)
        tensors = {
            name: torch.zeros(tensor.shape, dtype=tensor.dtype, requires_grad=tensor.requires_grad)
            for name, tensor in (*model.named_parameters(), *model.named_buffers())
        }
    return _counted(model, tensors, inputs, backward)


def _users_flops(model: nn.Module, preset: Preset, backward: bool) -> int | None:
    """FLOPs per sample of a model as the user's code built it: it may do more than work on its parameters.

    None where it does not take two samples of zeros, or its data cannot be read.
    """
    try:
        inputs = data.example_inputs(preset.data, SAMPLES)
        tensors = {name: tensor.detach().clone() for name, tensor in model.named_buffers()}
        for name, parameter in model.named_parameters():
            tensors[name] = parameter.detach().requires_grad_(parameter.requires_grad)
        return _counted(model, tensors, inputs, backward)
    except (Exception, SystemExit):
        with suppress(Exception):
            traceback.print_exc()
        return None


def _counted(model: nn.Module, tensors: dict[str, Tensor], inputs: Tensor, backward: bool) -> int:
    counter = FlopCounter()
    with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(backward), counter:
        outputs = functional_call(model, tensors, (inputs,))
        if backward:
            outputs.sum().backward()
    return counter.flops // SAMPLES
