"""Multi-layer perceptrons: Linear, activation and dropout for each hidden layer, then Linear."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gputrain_presets.spec import MlpModel


class GlorotUniformLinear(nn.Linear):
    """A Linear that starts with Glorot-uniform weights and biases of 0, as Lasagne's and Keras' do."""

    def reset_parameters(self) -> None:
        """Draw the weights anew from PyTorch's global random state."""
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)


class HeNormalLinear(nn.Linear):
    """A Linear that starts with He-normal weights and biases of 0."""

    def reset_parameters(self) -> None:
        """Draw the weights anew from PyTorch's global random state."""
        nn.init.kaiming_normal_(self.weight, nonlinearity="relu")
        nn.init.zeros_(self.bias)


_LINEAR: dict[str, Callable[[int, int], nn.Linear]] = {
    "glorot_uniform": GlorotUniformLinear,
    "he_normal": HeNormalLinear,
    "pytorch": nn.Linear,
}

_ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "gelu": nn.GELU,
}


def build(model: MlpModel, size: str) -> nn.Sequential:
    """The perceptron: inputs (samples, model.inputs) to outputs (samples, model.outputs)."""
    linear = _LINEAR[model.initialisation]
    layers: list[nn.Module] = []
    width = model.inputs
    for units in model.hidden(size):
        layers += [linear(width, units), _ACTIVATIONS[model.activation]()]
        if model.dropout:
            layers.append(nn.Dropout(model.dropout))
        width = units
    layers.append(linear(width, model.outputs))
    if model.output_activation != "none":
        layers.append(_ACTIVATIONS[model.output_activation]())
    return nn.Sequential(*layers)


def example_inputs(model: MlpModel, samples: int) -> Tensor:
    """Inputs (samples, model.inputs)."""
    return torch.zeros(samples, model.inputs)
