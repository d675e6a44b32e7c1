"""Learnable synthetic images: each class has its colour and stripes, each sample its own shift and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .dataset import Split
from .generation import empty, fill_normal

COLOUR = 0.5
STRIPES = 0.7
NOISE = 0.5
"""Standard deviations over the pixels; together close to 1, as in images normalised the usual way."""
FEWEST_STRIPES = 4.0
MOST_STRIPES = 24.0
"""Across an image; the finest are 9 pixels wide at 224, so that the first layers' strides keep them."""
NOISE_VALUES = 1 << 22
"""Drawn once and laid under all images, a few at a time from any place in it: noise for every pixel of
a pool would take seconds, and no network looks that closely."""


@dataclass(frozen=True, slots=True)
class Textures:
    """What tells the classes apart.

    Attributes:
        colours: (classes, channels), the mean of their images.
        stripes: (classes, channels), how strongly their stripes show.
        waves: (classes, 2), stripes across the image to the right and down.
    """

    colours: Tensor
    stripes: Tensor
    waves: Tensor


def of_classes(classes: int, channels: int, seed: int) -> Textures:
    """The textures of that many classes, the same for a seed."""
    generator = torch.Generator().manual_seed(seed)
    count = torch.empty(classes).uniform_(FEWEST_STRIPES, MOST_STRIPES, generator=generator)
    direction = math.pi * torch.rand(classes, generator=generator)
    return Textures(
        colours=COLOUR * torch.randn(classes, channels, generator=generator),
        stripes=math.sqrt(2) * STRIPES * torch.randn(classes, channels, generator=generator),
        waves=torch.stack([count * direction.cos(), count * direction.sin()], 1),
    )


@torch.no_grad()
def draw(samples: int, textures: Textures, side: int, seed: int, stream: int) -> Split:
    """`samples` images (samples, channels, side, side) of deviation 1, and their labels (samples,) int64."""
    classes, channels = textures.colours.shape
    pixels = channels * side * side
    generator = torch.Generator().manual_seed(seed * 1000 + stream)
    labels = torch.randint(classes, (samples,), generator=generator)
    shifts = 2 * math.pi * torch.rand(samples, generator=generator)
    together = max(1, NOISE_VALUES // (2 * pixels))
    noise = empty(2 * together * pixels)
    fill_normal(noise, seed, stream)
    noise *= NOISE
    angles = 2 * math.pi * torch.arange(side) / side
    images = empty(samples, channels, side, side)
    for start in range(0, samples, together):
        rows = slice(start, start + together)
        chunk = images[rows].view(-1, side, side)
        place = int(torch.randint(together * pixels + 1, (), generator=generator))
        under = noise[place : place + chunk.numel()].view_as(chunk)
        down, across = _factors(textures, labels[rows], angles, shifts[rows])
        torch.baddbmm(under, down, across, out=chunk)
    return Split(images, labels)


def _factors(textures: Textures, labels: Tensor, angles: Tensor, shifts: Tensor) -> tuple[Tensor, Tensor]:
    """Columns (samples * channels, side, 3) and rows (samples * channels, 3, side): their product is the
    images without noise.

    cos(a + b) = cos a cos b - sin a sin b: no cosine is taken of every pixel.
    """
    right = textures.waves[labels, 0, None] * angles + shifts[:, None]
    below = textures.waves[labels, 1, None] * angles
    strength, colour = textures.stripes[labels, :, None], textures.colours[labels, :, None]
    cosine, sine = right.cos()[:, None], right.sin()[:, None]
    across = torch.stack([strength * cosine, -strength * sine, colour.expand(-1, -1, angles.numel())], 2)
    down = torch.stack([below.cos(), below.sin(), torch.ones_like(below)], 2)
    down = down[:, None].expand(-1, strength.shape[1], -1, -1)
    return down.flatten(0, 1), across.flatten(0, 1)
