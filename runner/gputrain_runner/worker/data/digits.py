"""Digit images with labels: real ones from files, or a synthetic stand-in of the same shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from gputrain_presets.spec import DigitsData, Model

from . import glyphs
from .dataset import Dataset, Split
from .generation import empty
from .mnist_files import Digits, read

INPUTS = 28 * 28
CHUNK = 4096
"""Images normalised at a time, so that what is squared on the way stays in the cache."""


def load(data: DigitsData, model: Model) -> Dataset:
    """Inputs (samples, 784) float32 from 0 to 1, or of length 1 where the preset says `l2`; labels int64.

    Real files bring their own numbers of samples; the preset's are those of the stand-in. Without
    validation samples in the preset there is no validation split. DataError says which file is wrong.
    """
    return _synthetic(data) if data.path is None else _real(data, Path(data.path))


def _real(data: DigitsData, path: Path) -> Dataset:
    training, validation = read(path, validation=data.validation_samples > 0)
    counts = " + ".join(f"{len(digits.labels):,}" for digits in (training, validation) if digits)
    return Dataset(
        training=_normalised(_split(training), data),
        validation=_normalised(_split(validation), data) if validation else None,
        description=f"MNIST from {path}: {counts} images",
        synthetic=False,
    )


def _synthetic(data: DigitsData) -> Dataset:
    validation = data.validation_samples
    return Dataset(
        training=_normalised(glyphs.draw(data.training_samples, data.seed, stream=1), data),
        validation=_normalised(glyphs.draw(validation, data.seed, stream=2), data) if validation else None,
        description="synthetic: ten random strokes, bent and noisy, in place of MNIST's digits",
        synthetic=True,
    )


def _split(digits: Digits) -> Split:
    inputs = empty(len(digits.images), 784)
    pixels = digits.images.reshape(len(digits.images), 784)
    np.multiply(pixels, np.float32(1 / 255), out=inputs.numpy(), dtype=np.float32)
    return Split(inputs, torch.from_numpy(digits.labels.astype(np.int64)))


def _normalised(split: Split, data: DigitsData) -> Split:
    """The split with its inputs normalised in place; a blank image stays blank."""
    if data.normalise == "l2":
        for rows in split.inputs.split(CHUNK):
            length = rows.norm(dim=1, keepdim=True)
            rows.div_(torch.where(length > 0, length, 1))
    return split
