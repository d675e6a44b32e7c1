"""What the image classifiers share: layers with their initial weights, scaled widths, a rung looked up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from gputrain_presets.tables import Rung

R = TypeVar("R", bound=Rung)

CHANNELS = 3
"""Of an image: red, green, blue."""


class SteadyConv2d(nn.Conv2d):
    """A convolution with initial weights that keep the signal steady over many layers; biases are 0."""

    def reset_parameters(self) -> None:
        """Draw the weights anew from PyTorch's global random state."""
        _draw(self)


class SteadyLinear(nn.Linear):
    """A fully connected layer with initial weights of that kind."""

    def reset_parameters(self) -> None:
        """Draw the weights anew from PyTorch's global random state."""
        _draw(self)


def _draw(layer: nn.Conv2d | nn.Linear) -> None:
    """Normal weights of variance 4 / (inputs + outputs): Glorot's rule with the gain of a ReLU.

    He's rules, 2 / inputs or 2 / outputs, each break one of the networks without normalisation: by
    inputs the signal grows with every max pool until AlexNet diverges, by outputs it grows in every
    narrowing 1 x 1 convolution until GoogLeNet does.
    """
    nn.init.xavier_normal_(layer.weight, gain=nn.init.calculate_gain("relu"))
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class ScoresLinear(nn.Linear):
    """The last layer: small weights, so that training starts with every class as likely as another."""

    DEVIATION = 0.01

    def reset_parameters(self) -> None:
        """Draw the weights anew from PyTorch's global random state."""
        nn.init.normal_(self.weight, std=self.DEVIATION)
        nn.init.zeros_(self.bias)


def conv_relu(inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0) -> list[nn.Module]:
    """A convolution with a bias, and the ReLU that follows it."""
    return [SteadyConv2d(inputs, outputs, kernel, stride, padding), nn.ReLU(inplace=True)]


def linear_relu(inputs: int, outputs: int) -> list[nn.Module]:
    """A fully connected layer, and the ReLU that follows it."""
    return [SteadyLinear(inputs, outputs), nn.ReLU(inplace=True)]


def scaled(units: int, width: float) -> int:
    """`units` times `width`, to the nearest whole number, halves up, at least 1."""
    return max(1, math.floor(units * width + 0.5))


def rung(sizes: Sequence[R], name: str) -> R:
    """The rung of the size ladder called `name`; KeyError where there is none."""
    for size in sizes:
        if size.name == name:
            return size
    raise KeyError(name)


def blank_images(samples: int, side: int) -> Tensor:
    """Images (samples, 3, side, side) of zeros."""
    return torch.zeros(samples, CHANNELS, side, side)
