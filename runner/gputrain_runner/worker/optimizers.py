"""The optimizers a preset may name, built with its figures; all else is left at PyTorch's defaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from torch import Tensor, optim

from gputrain_presets import PresetError, spec

from . import torch_parts


def build(optimizer: spec.Optimizer, parameters: Iterable[Tensor]) -> optim.Optimizer:
    """The optimizer over `parameters`; whether it runs foreach or fused is PyTorch's choice.

    PresetError where PyTorch has no optimizer of that name, or not with such arguments.
    """
    match optimizer:
        case spec.SgdOptimizer():
            return optim.SGD(
                parameters,
                lr=optimizer.lr,
                momentum=optimizer.momentum,
                nesterov=optimizer.nesterov,
                weight_decay=optimizer.weight_decay,
            )
        case spec.AdamOptimizer():
            return optim.Adam(parameters, lr=optimizer.lr, betas=optimizer.betas, eps=optimizer.eps)
        case spec.NadamOptimizer():
            return optim.NAdam(
                parameters,
                lr=optimizer.lr,
                betas=optimizer.betas,
                eps=optimizer.eps,
                momentum_decay=optimizer.momentum_decay,
            )
        case spec.TorchOptimizer():
            return _named(optimizer, parameters)
    assert_never(optimizer)


def _named(optimizer: spec.TorchOptimizer, parameters: Iterable[Tensor]) -> optim.Optimizer:
    of = torch_parts.find("optimizer", optimizer.name, optim, optim.Optimizer)
    if "lr" in optimizer.arguments:
        raise PresetError("optimizer.arguments.lr: the learning rate has a place of its own, optimizer.lr")
    arguments: dict[str, object] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in optimizer.arguments.items()
    }
    if optimizer.lr is not None:
        arguments["lr"] = optimizer.lr
    return torch_parts.make("optimizer", of, arguments, parameters)
