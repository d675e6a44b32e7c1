"""The losses a preset may name: each a function of outputs and targets to one number."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor
from torch.nn import functional

from gputrain_presets import spec

LossFunction = Callable[[Tensor, Tensor], Tensor]

_LOSSES: dict[type[spec.Loss], LossFunction] = {
    spec.MseLoss: functional.mse_loss,
    spec.CrossEntropyLoss: functional.cross_entropy,
}


def build(loss: spec.Loss) -> LossFunction:
    """The loss, averaged over the batch, of outputs (batch, outputs) against targets.

    Targets are (batch, outputs) float32 for `mse` and (batch,) int64 for `cross_entropy`.
    """
    return _LOSSES[type(loss)]


def counts_correct(loss: spec.Loss) -> bool:
    """Whether the outputs are class scores, so that an accuracy can be told."""
    return isinstance(loss, spec.CrossEntropyLoss)
