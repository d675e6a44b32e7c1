"""GoogLeNet: "Going Deeper with Convolutions", Szegedy et al. 2014, arXiv 1409.4842, table 1.

With 5 x 5 convolutions as in the paper. Local response normalisation and the auxiliary heads are
left out, as in the public comparisons of its time.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from gputrain_presets.image_models import GooglenetModel

from .layers import CHANNELS, ScoresLinear, blank_images, conv_relu, rung, scaled


class Branches(NamedTuple):
    """Channels inside an inception block."""

    one: int
    before_three: int
    three: int
    before_five: int
    five: int
    pooled: int

    def scaled(self, width: float) -> Branches:
        """The same block, wider or narrower."""
        return Branches(*(scaled(channels, width) for channels in self))

    @property
    def outputs(self) -> int:
        """Channels that leave the block."""
        return self.one + self.three + self.five + self.pooled


BLOCKS = (
    (Branches(64, 96, 128, 16, 32, 32), Branches(128, 128, 192, 32, 96, 64)),
    (
        Branches(192, 96, 208, 16, 48, 64),
        Branches(160, 112, 224, 24, 64, 64),
        Branches(128, 128, 256, 24, 64, 64),
        Branches(112, 144, 288, 32, 64, 64),
        Branches(256, 160, 320, 32, 128, 128),
    ),
    (Branches(256, 160, 320, 32, 128, 128), Branches(384, 192, 384, 48, 128, 128)),
)
"""The inception blocks 3a to 5b; the image is halved before each group."""


class Inception(nn.Module):
    """Four branches side by side, their channels concatenated; the image keeps its side."""

    def __init__(self, inputs: int, branches: Branches) -> None:
        super().__init__()
        self.one = nn.Sequential(*conv_relu(inputs, branches.one, 1))
        self.three = nn.Sequential(
            *conv_relu(inputs, branches.before_three, 1),
            *conv_relu(branches.before_three, branches.three, 3, padding=1),
        )
        self.five = nn.Sequential(
            *conv_relu(inputs, branches.before_five, 1),
            *conv_relu(branches.before_five, branches.five, 5, padding=2),
        )
        self.pooled = nn.Sequential(
            nn.MaxPool2d(3, stride=1, padding=1), *conv_relu(inputs, branches.pooled, 1)
        )

    def forward(self, images: Tensor) -> Tensor:
        """(batch, inputs, side, side) to (batch, branches.outputs, side, side)."""
        return torch.cat([self.one(images), self.three(images), self.five(images), self.pooled(images)], 1)


def build(model: GooglenetModel, size: str) -> nn.Sequential:
    """The network: images (batch, 3, side, side) to scores (batch, classes)."""
    width = rung(model.sizes, size).width
    first, second = scaled(64, width), scaled(192, width)
    layers = [
        *conv_relu(CHANNELS, first, 7, stride=2, padding=3),
        _halve(),
        *conv_relu(first, first, 1),
        *conv_relu(first, second, 3, padding=1),
    ]
    channels = second
    for group in BLOCKS:
        layers.append(_halve())
        for branches in group:
            block = branches.scaled(width)
            layers.append(Inception(channels, block))
            channels = block.outputs
    return nn.Sequential(
        *layers,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(model.dropout),
        ScoresLinear(channels, model.classes),
    )


def example_inputs(model: GooglenetModel, samples: int) -> Tensor:
    """Images (samples, 3, side, side)."""
    return blank_images(samples, model.image_side)


def _halve() -> nn.Module:
    """Rounded up, so that 224 becomes 112, 56, 28, 14 and 7."""
    return nn.MaxPool2d(3, stride=2, ceil_mode=True)
