"""The losses a preset may name: each a function of outputs and targets to one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.loss import _Loss

from gputrain_presets import PresetError, spec
from gputrain_presets.explain import in_toml

from . import torch_parts

LossFunction = Callable[[Tensor, Tensor], Tensor]

_OF_SCORES = ("CrossEntropyLoss", "NLLLoss", "MultiMarginLoss")
"""Losses of PyTorch's whose targets are the numbers of classes."""
_MEANS = ("mean", "batchmean")


def build(loss: spec.Loss) -> LossFunction:
    """The loss, averaged over the batch, of outputs (batch, outputs) against targets.

    Targets are (batch, outputs) float32 for `mse` and (batch,) int64 for `cross_entropy`; PyTorch's own
    take what they take. PresetError where PyTorch has no such loss, or not with such arguments.
    """
    match loss:
        case spec.MseLoss():
            return functional.mse_loss
        case spec.CrossEntropyLoss():
            return functional.cross_entropy
        case spec.TorchLoss():
            return NamedLoss(loss)
    assert_never(loss)


def counts_correct(loss: spec.Loss) -> bool:
    """Whether the outputs are class scores, so that an accuracy can be told where targets are labels."""
    return isinstance(loss, spec.CrossEntropyLoss) or (
        isinstance(loss, spec.TorchLoss) and loss.name in _OF_SCORES
    )


def ignored_label(loss: spec.Loss) -> int:
    """The label that counts for nothing: PyTorch's default, or that of the arguments."""
    ignored = loss.arguments.get("ignore_index", -100) if isinstance(loss, spec.TorchLoss) else -100
    return ignored if isinstance(ignored, int) else -100


class NamedLoss:
    """A loss of `torch.nn`; its weights are where the outputs are."""

    def __init__(self, loss: spec.TorchLoss) -> None:
        of = torch_parts.find("loss", loss.name, nn, _Loss)
        arguments = {name: _tensor(value) for name, value in loss.arguments.items()}
        made = torch_parts.make("loss", of, arguments)
        if made.reduction not in _MEANS:
            allowed = "'mean': what is shown is the loss of one sample"
            raise PresetError(
                f"loss.arguments.reduction: found {in_toml(made.reduction)}, allowed: {allowed}"
            )
        if any(True for _ in made.parameters()):
            raise PresetError(f"loss.name: {loss.name} has parameters of its own, which nothing would train")
        self._loss: nn.Module = made
        self._device = torch.device("cpu")

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The loss, a scalar."""
        if outputs.device != self._device:
            self._loss.to(outputs.device)
            self._device = outputs.device
        measured: Tensor = self._loss(outputs, targets)
        return measured


def _tensor(value: spec.Argument) -> object:
    """An array of a preset's file as the tensor that losses take."""
    return torch.tensor(value, dtype=torch.float32) if isinstance(value, list) else value
