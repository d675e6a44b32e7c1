"""OverFeat, the fast model: "Integrated Recognition, Localization and Detection using CNNs".

Sermanet et al. 2013, arXiv 1312.6229, table 1.
"""

from __future__ import annotations

from torch import Tensor, nn

from gputrain_presets.image_models import OverfeatModel

from .layers import CHANNELS, ScoresLinear, blank_images, conv_relu, linear_relu, rung, scaled

CONVOLUTIONS = (96, 256, 512, 1024, 1024)
HIDDEN = (3072, 4096)


def build(model: OverfeatModel, size: str) -> nn.Sequential:
    """The network: images (batch, 3, side, side) to scores (batch, classes)."""
    width = rung(model.sizes, size).width
    first, second, third, fourth, fifth = (scaled(channels, width) for channels in CONVOLUTIONS)
    wide, wider = (scaled(units, width) for units in HIDDEN)
    side = _last_side(model.image_side)
    return nn.Sequential(
        *conv_relu(CHANNELS, first, 11, stride=4),
        nn.MaxPool2d(2),
        *conv_relu(first, second, 5),
        nn.MaxPool2d(2),
        *conv_relu(second, third, 3, padding=1),
        *conv_relu(third, fourth, 3, padding=1),
        *conv_relu(fourth, fifth, 3, padding=1),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(model.dropout),
        *linear_relu(fifth * side * side, wide),
        nn.Dropout(model.dropout),
        *linear_relu(wide, wider),
        ScoresLinear(wider, model.classes),
    )


def example_inputs(model: OverfeatModel, samples: int) -> Tensor:
    """Images (samples, 3, side, side)."""
    return blank_images(samples, model.image_side)


def _last_side(side: int) -> int:
    """Pixels along a side of what the fully connected layers see: 6 of 231."""
    side = ((side - 11) // 4 + 1) // 2
    return (side - 5 + 1) // 2 // 2
