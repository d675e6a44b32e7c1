"""ResNet: "Deep Residual Learning for Image Recognition", He et al. 2015, arXiv 1512.03385, table 1.

Version 1.5: a bottleneck that halves the image does so in its 3 x 3 convolution, as the
implementation that most published timings come from did.
"""

from __future__ import annotations

from torch import Tensor, nn

from gputrain_presets.image_models import ResnetModel

from .layers import CHANNELS, ScoresLinear, SteadyConv2d, blank_images, rung

STAGES = (64, 128, 256, 512)
"""Channels inside the blocks of each stage; the image is halved before all stages but the first."""
BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""How many blocks each stage has, by depth."""
FIRST_BOTTLENECK_DEPTH = 50
EXPANSION = 4
"""Channels that leave a bottleneck, over those inside it."""


class SilentBatchNorm2d(nn.BatchNorm2d):
    """A normalisation that starts with a scale of 0: each block begins as its short cut alone.

    Without it 50 layers do not train at small batches; Goyal et al. 2017, arXiv 1706.02677, section 5.1.
    """

    def reset_parameters(self) -> None:
        """Forget the statistics and start anew."""
        super().reset_parameters()
        nn.init.zeros_(self.weight)


class Residual(nn.Module):
    """A block with a short cut around it: ReLU(body(x) + shortcut(x))."""

    def __init__(self, body: nn.Sequential, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = body
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(*_conv_norm(inputs, outputs, 1, stride))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, images: Tensor) -> Tensor:
        """(batch, inputs, side, side) to (batch, outputs, side / stride, side / stride)."""
        total: Tensor = self.body(images)
        total += self.shortcut(images)
        activated: Tensor = self.relu(total)
        return activated


def build(model: ResnetModel, size: str) -> nn.Sequential:
    """The network: images (batch, 3, side, side) to scores (batch, classes)."""
    depth = rung(model.sizes, size).depth
    block = _bottleneck if depth >= FIRST_BOTTLENECK_DEPTH else _basic
    channels = STAGES[0]
    layers: list[nn.Module] = [
        *_conv_norm(CHANNELS, channels, 7, stride=2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, stride=2, padding=1),
    ]
    for stage, (inside, repeats) in enumerate(zip(STAGES, BLOCKS[depth], strict=True)):
        for repeat in range(repeats):
            residual, channels = block(channels, inside, 2 if stage and not repeat else 1)
            layers.append(residual)
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), ScoresLinear(channels, model.classes)]
    return nn.Sequential(*layers)


def example_inputs(model: ResnetModel, samples: int) -> Tensor:
    """Images (samples, 3, side, side)."""
    return blank_images(samples, model.image_side)


def _basic(inputs: int, inside: int, stride: int) -> tuple[Residual, int]:
    """Two 3 x 3 convolutions, and the channels that leave them."""
    body = nn.Sequential(
        *_conv_norm(inputs, inside, 3, stride),
        nn.ReLU(inplace=True),
        SteadyConv2d(inside, inside, 3, padding=1, bias=False),
        SilentBatchNorm2d(inside),
    )
    return Residual(body, inputs, inside, stride), inside


def _bottleneck(inputs: int, inside: int, stride: int) -> tuple[Residual, int]:
    """A 3 x 3 convolution between two of 1 x 1, and the channels that leave them."""
    outputs = inside * EXPANSION
    body = nn.Sequential(
        *_conv_norm(inputs, inside, 1),
        nn.ReLU(inplace=True),
        *_conv_norm(inside, inside, 3, stride),
        nn.ReLU(inplace=True),
        SteadyConv2d(inside, outputs, 1, bias=False),
        SilentBatchNorm2d(outputs),
    )
    return Residual(body, inputs, outputs, stride), outputs


def _conv_norm(inputs: int, outputs: int, kernel: int, stride: int = 1) -> list[nn.Module]:
    """A convolution, whose bias would be lost in the normalisation that follows it."""
    return [
        SteadyConv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
    ]
