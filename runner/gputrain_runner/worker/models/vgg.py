"""VGG: "Very Deep Convolutional Networks for Large-Scale Image Recognition".

Simonyan and Zisserman 2014, arXiv 1409.1556, table 1: configurations A, B, D and E.
"""

from __future__ import annotations

from torch import Tensor, nn

from gputrain_presets.image_models import VggModel

from .layers import CHANNELS, ScoresLinear, blank_images, conv_relu, linear_relu, rung

STAGES = (64, 128, 256, 512, 512)
"""Channels of the convolutions between two halvings of the image."""
CONVOLUTIONS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}
"""How many convolutions each stage has, by depth."""
HIDDEN = 4096


def build(model: VggModel, size: str) -> nn.Sequential:
    """The network: images (batch, 3, side, side) to scores (batch, classes)."""
    layers: list[nn.Module] = []
    channels = CHANNELS
    for stage, repeats in zip(STAGES, CONVOLUTIONS[rung(model.sizes, size).depth], strict=True):
        for _ in range(repeats):
            layers += conv_relu(channels, stage, 3, padding=1)
            channels = stage
        layers.append(nn.MaxPool2d(2))
    side = model.image_side // 2 ** len(STAGES)
    return nn.Sequential(
        *layers,
        nn.Flatten(),
        *linear_relu(channels * side * side, HIDDEN),
        nn.Dropout(model.dropout),
        *linear_relu(HIDDEN, HIDDEN),
        nn.Dropout(model.dropout),
        ScoresLinear(HIDDEN, model.classes),
    )


def example_inputs(model: VggModel, samples: int) -> Tensor:
    """Images (samples, 3, side, side)."""
    return blank_images(samples, model.image_side)
