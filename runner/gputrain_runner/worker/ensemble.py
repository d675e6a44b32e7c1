"""Models at once: independent models of one preset, trained side by side in one step.

Model i begins with the weights that a run with seed + i begins with, has its own learning rate where the
preset's optimizer lists `learning_rates`, and draws its own dropout. All see the same batches in the same
order, as candidates of a search that are judged on the same data. The sum of their losses is what is
derived, so no model's gradient knows of another's, and an optimizer that treats each number by itself
treats each model by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn, optim

from gputrain_presets import spec

from . import models, stacking
from .losses import LossFunction

State = dict[str, Any]

_ONE_BY_ONE = (
    optim.SGD,
    optim.Adam,
    optim.AdamW,
    optim.NAdam,
    optim.RAdam,
    optim.Adamax,
    optim.Adagrad,
    optim.Adadelta,
    optim.RMSprop,
)
"""Optimizers that treat each number by itself, in steps proportional to the learning rate."""

_COUNTERS = ("step", "mu_product")
"""What their state counts steps with: one number for all models."""


def refusal(model: nn.Module, optimizer: optim.Optimizer) -> str | None:
    """Why a model and its optimizer cannot be trained several at once; None where they can."""
    if type(optimizer) not in _ONE_BY_ONE:
        return f"{type(optimizer).__name__} does not treat each number by itself, so models would mix"
    return stacking.refusal(model)


def build(model: spec.Model, size: str, count: int, seed: int) -> nn.Module:
    """`count` models of that size as one module on the current default device.

    Takes inputs (batch, ...) to outputs (count, batch, ...). Leaves PyTorch's global random state as it
    was. ValueError says in one line why such models cannot be stacked.
    """
    alone = []
    with torch.random.fork_rng(devices=[]):
        for index in range(count):
            torch.manual_seed(seed + index)
            alone.append(models.build(model, size))
    return stacking.stack(alone)


def losses(measure_loss: LossFunction, outputs: Tensor, targets: Tensor) -> Tensor:
    """The loss of each model (count,), for outputs (count, batch, ...) against the same targets."""
    each: Tensor = torch.func.vmap(measure_loss, in_dims=(0, None))(outputs, targets)
    return each


def mean_loss(measure_loss: LossFunction) -> LossFunction:
    """The models' mean loss, as a loss function.

    To train, derive it times the number of models, that is the sum: `loss.backward(count)` with count a
    scalar tensor. The mean is what can be shown beside the loss of a model alone.
    """
    return lambda outputs, targets: losses(measure_loss, outputs, targets).mean()


def set_rates(optimizer: optim.Optimizer, rates: Sequence[float]) -> None:
    """Let model i learn at `rates[i]`, whatever optimizer of `_ONE_BY_ONE` it is.

    The optimizer steps all models at the largest rate, then each is put back to its share of that step,
    which is what its own rate would have made of it. Call once, for an optimizer that is new.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for group in optimizer.param_groups:
        group["lr"] = max(rates)
    own = [_per_model(rates, parameter) for parameter in parameters]
    before: list[Tensor] = []

    def keep(*_: Any) -> None:
        before[:] = [parameter.detach().clone() for parameter in parameters]

    @torch.no_grad()
    def scale(*_: Any) -> None:
        # Read anew: loading an optimizer's state brings the rate it was saved with.
        lr = optimizer.param_groups[0]["lr"]
        for parameter, old, rate in zip(parameters, before, own, strict=True):
            parameter.copy_(old.lerp_(parameter, rate / lr))
        before.clear()

    optimizer.register_step_pre_hook(keep)
    optimizer.register_step_post_hook(scale)


def resized_model(saved: State, fresh: State, count: int) -> State:
    """`fresh`, a state dict of any number of models, with the weights of as many of `saved`'s as fit.

    Args:
        saved: the state dict of `count` models, or of one alone.
        fresh: that of the new ones, newly built.
        count: how many `saved` holds.
    """
    pairs = zip(saved.values(), fresh.items(), strict=True)
    return {name: _rows(old, new, count) for old, (name, new) in pairs}


def resized_optimizer(saved: State, fresh_parameters: Sequence[Tensor], count: int) -> State:
    """An optimizer's state dict for another number of models.

    Models that stay keep their moments; those that come begin with none. The count of steps is one for
    all, so Adam's first steps of those that come are up to about three times as long as a new run's.

    Args:
        saved: the state dict of the optimizer over `count` models, or over one alone.
        fresh_parameters: what the new optimizer is over.
        count: how many models `saved` is of.
    """
    state = {
        index: {
            name: value if name in _COUNTERS else _moments(value, fresh_parameters[index], count)
            for name, value in entry.items()
        }
        for index, entry in saved["state"].items()
    }
    return {**saved, "state": state}


def _moments(value: Any, fresh: Tensor, count: int) -> Any:
    if not isinstance(value, Tensor):
        return value
    return _rows(value, torch.zeros_like(fresh, device=value.device), count)


def _rows(old: Tensor, new: Tensor, count: int) -> Tensor:
    """`new`, its first models' rows from `old` of `count` models; a model alone has no first dimension."""
    many_old = old if count > 1 else old.unsqueeze(0)
    alone = new.dim() < many_old.dim()
    many_new = new.unsqueeze(0) if alone else new
    kept = min(len(many_old), len(many_new))
    rows = torch.cat([many_old[:kept], many_new[kept:].to(old.device)])
    return rows[0] if alone else rows


def _per_model(values: Sequence[float], parameter: Tensor) -> Tensor:
    shape = (len(values), *[1] * (parameter.dim() - 1))
    return torch.tensor(values, dtype=parameter.dtype, device=parameter.device).view(shape)
