"""A learnable stand-in for handwritten digits: ten random strokes, each sample bent in its own way."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from .dataset import Split
from .generation import empty, fill_normal, generator

SIDE = 28
CLASSES = 10
CHUNK = 2048
"""Samples bent at a time; what is in between takes 19 MB."""

STROKE_POINTS = 48
STROKE_WIDTH = 0.09
"""Of an image that reaches from -1 to 1; about as thick as a pen stroke in MNIST."""

ROTATION = 0.35
SCALE = 0.2
SHEAR = 0.3
SHIFT = 0.15
NOISE = 0.3
"""Standard deviations: over the samples, of what bends them (radians, logarithm of the scale, share of
the height, share of half the side); NOISE over the pixels. Chosen so that `keras-mnist-mlp` goes on
learning for some epochs: about 87 % right after the first, 91 % after the second."""
NOISE_STREAMS = 10
"""What is added to a stream's number for its noise."""


@torch.no_grad()
def draw(samples: int, seed: int, stream: int) -> Split:
    """`samples` images (samples, 784) of values 0..1 and their labels (samples,).

    The ten strokes follow from `seed`; the samples from `seed` and `stream`, 1 to 9.
    """
    strokes = _strokes(seed)
    random = generator(seed, stream)
    labels = torch.randint(CLASSES, (samples,), generator=random)
    bends = _bends(samples, random)
    images = empty(samples, SIDE * SIDE)
    fill_normal(images, seed, stream + NOISE_STREAMS)
    # One product for a whole chunk: three times as fast as functional.affine_grid, which makes one each.
    places = _places()
    chunks = zip(images.split(CHUNK), labels.split(CHUNK), bends.split(CHUNK), strict=True)
    for image, label, bend in chunks:
        points = (bend.reshape(-1, 3) @ places).view(-1, 2, SIDE, SIDE).permute(0, 2, 3, 1)
        ink = functional.grid_sample(strokes[label], points, align_corners=False)
        image.mul_(NOISE).add_(ink.view(-1, SIDE * SIDE)).clamp_(0, 1)
    return Split(images, labels)


def _bends(samples: int, random: torch.Generator) -> Tensor:
    """An affine map (2, 3) for each sample: where in the stroke's image each of its pixels is found."""
    angle, stretch_x, stretch_y, shear, x, y = torch.randn(6, samples, generator=random)
    angle, shear = angle * ROTATION, shear * SHEAR
    cos, sin = angle.cos(), angle.sin()
    across, down = (stretch_x * SCALE).exp(), (stretch_y * SCALE).exp()
    first = torch.stack([cos * across, (shear * cos - sin) * down, x * SHIFT], 1)
    second = torch.stack([sin * across, (shear * sin + cos) * down, y * SHIFT], 1)
    return torch.stack([first, second], 1)


def _places() -> Tensor:
    """Where each pixel's centre is (3, 784): across, down, and 1 for the shift."""
    down, across = torch.cartesian_prod(_centres(), _centres()).T
    return torch.stack([across, down, torch.ones(SIDE * SIDE)])


def _centres() -> Tensor:
    """The pixels' centres (28,) on one side of an image that reaches from -1 to 1."""
    return (torch.arange(SIDE) + 0.5) * 2 / SIDE - 1


def _strokes(seed: int) -> Tensor:
    """The ten strokes (10, 1, 28, 28): smooth random curves, white on black."""
    random = generator(seed, stream=0)
    steps = torch.linspace(0, 1, STROKE_POINTS)
    waves = torch.arange(1, 4)
    turns = 2 * math.pi * torch.rand(CLASSES, 2, 3, 1, generator=random)
    weights = torch.randn(CLASSES, 2, 3, 1, generator=random) / waves[:, None]
    curves = (weights * torch.sin(math.pi * waves[:, None] * steps + turns)).sum(2)
    curves -= curves.mean(2, keepdim=True)
    curves *= 0.6 / curves.abs().amax(2, keepdim=True)
    centres = _centres()
    apart_x = centres[None, None, :, None] - curves[:, 0, None, None, :]
    apart_y = centres[None, :, None, None] - curves[:, 1, None, None, :]
    nearest = (apart_x**2 + apart_y**2).amin(3)
    return (nearest / (-2 * STROKE_WIDTH**2)).exp().mul(1.2).clamp(0, 1)[:, None]
