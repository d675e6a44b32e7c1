"""The optimizers a preset may name, built with its figures; all else is left at PyTorch's defaults."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from torch import Tensor, optim

from gputrain_presets import spec


def build(optimizer: spec.Optimizer, parameters: Iterable[Tensor]) -> optim.Optimizer:
    """The optimizer over `parameters`; whether it runs foreach or fused is PyTorch's choice."""
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
    assert_never(optimizer)
