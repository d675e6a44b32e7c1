"""Many models of one shape as a single module: one matrix product where each alone would need many.

`stack` finds the faster of two ways. A chain of Linear layers, activations and dropout (an MLP) becomes
a chain of batched products; anything else is mapped over its stacked parameters by `torch.func.vmap`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn.utils import parametrize

# Elementwise: they treat (models, batch, units) as each model's (batch, units). Dropout draws each
# model a mask of its own.
_ELEMENTWISE = (
    nn.ReLU,
    nn.ELU,
    nn.Tanh,
    nn.Sigmoid,
    nn.GELU,
    nn.SiLU,
    nn.LeakyReLU,
    nn.Softplus,
    nn.Identity,
    nn.Dropout,
)


def refusal(model: nn.Module) -> str | None:
    """Why models like this one cannot be trained side by side; None where they can."""
    if any(True for _ in model.buffers()):
        return "this model keeps statistics in buffers (batch normalisation does), which cannot be stacked"
    if any(isinstance(part, nn.RNNBase) for part in model.modules()):
        return "this model has recurrent layers, which cannot be stacked"
    return None


def stack(models: Sequence[nn.Module]) -> nn.Module:
    """One module with the weights of all: inputs (batch, ...) to outputs (models, batch, ...).

    All see the same inputs. Its parameters are those of one model with a first dimension of models,
    in the same order. ValueError where `refusal` says why not.
    """
    reason = refusal(models[0])
    if reason is not None:
        raise ValueError(reason)
    return _chain(models) if _is_chain(models[0]) else MappedModels(models)


class StackedLinear(nn.Module):
    """The Linear layers of many models.

    Attributes:
        weight: (models, outputs, inputs).
        bias: (models, outputs), or None.
        first: whether what it takes is what all models share, (batch, ..., inputs).
    """

    bias: nn.Parameter | None

    def __init__(self, layers: Sequence[nn.Linear], first: bool) -> None:
        super().__init__()
        self.first = first
        self.weight = _stacked([layer.weight for layer in layers])
        biases = [layer.bias for layer in layers if layer.bias is not None]
        self.register_parameter("bias", _stacked(biases) if biases else None)

    def forward(self, inputs: Tensor) -> Tensor:
        """(models, batch, ..., outputs) for inputs (models, batch, ..., inputs), or for the first layer's."""
        if self.first:
            inputs = inputs.expand(self.weight.shape[0], *inputs.shape)
        rows, weights = inputs.flatten(1, -2), self.weight.transpose(1, 2)
        if self.bias is None:
            outputs = torch.bmm(rows, weights)
        else:
            outputs = torch.baddbmm(self.bias.unsqueeze(1), rows, weights)
        return outputs if inputs.dim() == 3 else outputs.unflatten(1, inputs.shape[1:-1])


class MappedModels(nn.Module):
    """Any models of one shape, by mapping one of them over the stacked parameters of all."""

    def __init__(self, models: Sequence[nn.Module]) -> None:
        super().__init__()
        self.model = copy.deepcopy(models[0])
        stacked: dict[int, nn.Parameter] = {}  # A parameter may stand in several places.
        for name, parameter in self._places():
            owner, _, own_name = name.rpartition(".")
            if id(parameter) not in stacked:
                stacked[id(parameter)] = _stacked([model.get_parameter(name) for model in models])
            setattr(self.model.get_submodule(owner), own_name, stacked[id(parameter)])

    def forward(self, inputs: Tensor) -> Tensor:
        """(models, batch, ...) for inputs (batch, ...) that all share."""
        outputs: Tensor = vmap(self._one, in_dims=(0, None), randomness="different")(
            dict(self._places()), inputs
        )
        return outputs

    def _one(self, parameters: dict[str, Tensor], inputs: Tensor) -> Tensor:
        outputs: Tensor = functional_call(self.model, parameters, (inputs,), tie_weights=False)
        return outputs

    def _places(self) -> list[tuple[str, nn.Parameter]]:
        """Every place of a parameter once, also where a module stands in several places."""
        return [
            (f"{prefix}.{name}" if prefix else name, parameter)
            for prefix, module in self.model.named_modules()
            for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False)
        ]


def _chain(models: Sequence[nn.Module]) -> nn.Sequential:
    layers: list[nn.Module] = []
    first = True
    # Not `children()`: it leaves out a layer that stands in several places, as an activation may.
    for alike in zip(*(model._modules.values() for model in models), strict=True):
        if isinstance(alike[0], nn.Linear):
            layers.append(StackedLinear(alike, first))
            first = False
            continue
        layer = copy.deepcopy(alike[0])
        # The product before it does not need its result for the backward pass, so it may be overwritten:
        # less memory, and on a CPU an eighth less time.
        if layers and isinstance(layers[-1], StackedLinear) and isinstance(layer, nn.ReLU | nn.ELU):
            layer.inplace = True
        layers.append(layer)
    return nn.Sequential(*layers)


def _is_chain(model: nn.Module) -> bool:
    if not _runs_as(model, nn.Sequential) or not all(map(_batchable, model.children())):
        return False
    places = model.named_parameters(remove_duplicate=False)
    return len(list(places)) == len(list(model.parameters()))  # None stands in several places.


def _batchable(layer: nn.Module) -> bool:
    return _runs_as(layer, nn.Linear) or (type(layer) in _ELEMENTWISE and not _hooked(layer))


def _runs_as(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Whether it does what that class does: a class of the user's own that is derived from it may do more."""
    own = isinstance(module, kind) and type(module).forward is kind.forward
    return own and not _hooked(module) and not parametrize.is_parametrized(module)


def _hooked(module: nn.Module) -> bool:
    return bool(module._forward_hooks or module._forward_pre_hooks)


def _stacked(parameters: Sequence[Tensor]) -> nn.Parameter:
    stacked = torch.stack([parameter.detach() for parameter in parameters])
    return nn.Parameter(stacked, requires_grad=parameters[0].requires_grad)
