"""AlexNet with one tower: "One weird trick for parallelizing convolutional neural networks".

Krizhevsky 2014, arXiv 1404.5997; the layers as the public comparisons of its time ran them.
"""

from __future__ import annotations

from torch import Tensor, nn

from gputrain_presets.image_models import AlexnetModel

from .layers import CHANNELS, ScoresLinear, blank_images, conv_relu, linear_relu, rung, scaled

CONVOLUTIONS = (64, 192, 384, 256, 256)
HIDDEN = 4096


def build(model: AlexnetModel, size: str) -> nn.Sequential:
    """The network: images (batch, 3, side, side) to scores (batch, classes)."""
    width = rung(model.sizes, size).width
    first, second, third, fourth, fifth = (scaled(channels, width) for channels in CONVOLUTIONS)
    hidden = scaled(HIDDEN, width)
    side = _last_side(model.image_side)
    return nn.Sequential(
        *conv_relu(CHANNELS, first, 11, stride=4, padding=2),
        nn.MaxPool2d(3, stride=2),
        *conv_relu(first, second, 5, padding=2),
        nn.MaxPool2d(3, stride=2),
        *conv_relu(second, third, 3, padding=1),
        *conv_relu(third, fourth, 3, padding=1),
        *conv_relu(fourth, fifth, 3, padding=1),
        nn.MaxPool2d(3, stride=2),
        nn.Flatten(),
        nn.Dropout(model.dropout),
        *linear_relu(fifth * side * side, hidden),
        nn.Dropout(model.dropout),
        *linear_relu(hidden, hidden),
        ScoresLinear(hidden, model.classes),
    )


def example_inputs(model: AlexnetModel, samples: int) -> Tensor:
    """Images (samples, 3, side, side)."""
    return blank_images(samples, model.image_side)


def _last_side(side: int) -> int:
    """Pixels along a side of what the fully connected layers see: 6 of 224."""
    side = (side + 2 * 2 - 11) // 4 + 1
    for _ in range(3):
        side = (side - 3) // 2 + 1
    return side
