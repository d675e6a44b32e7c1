"""Synthetic images: shapes, the same for a seed, and something in them to learn."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from msgspec import structs
from torch.utils.data import DataLoader

import gputrain_presets
from gputrain_presets.spec import ImagesData
from gputrain_runner.worker import data
from training import in_memory

MODEL = gputrain_presets.load("resnet").model


def images(training: int = 200, validation: int = 100, **changes: object) -> data.Dataset:
    wanted = ImagesData(training_samples=training, validation_samples=validation, side=40)
    return data.load(structs.replace(wanted, **changes), MODEL)


def test_the_images_have_the_shapes_asked_for() -> None:
    dataset = images(side=50, channels=1, classes=5)

    for split, samples in ((in_memory(dataset.training), 200), (in_memory(dataset.validation), 100)):
        assert len(split) == samples
        assert (split.inputs.shape, split.inputs.dtype) == ((samples, 1, 50, 50), torch.float32)
        assert (split.targets.shape, split.targets.dtype) == ((samples,), torch.int64)
        assert split.inputs.is_contiguous()
        assert set(split.targets.tolist()) == set(range(5))
    assert dataset.synthetic
    assert dataset.description.startswith("synthetic: 200 images of 50 x 50, 5 classes")


def test_without_validation_samples_there_is_no_validation_split() -> None:
    assert images(validation=0).validation is None


def test_the_pixels_are_spread_as_normalised_photographs_are() -> None:
    inputs = in_memory(images(classes=200).training).inputs

    assert inputs.mean().item() == pytest.approx(0, abs=0.1)
    assert inputs.std().item() == pytest.approx(1, abs=0.15)


def test_a_seed_decides_the_images() -> None:
    one, again, other = (in_memory(images(seed=seed).training) for seed in (1, 1, 2))

    assert torch.equal(one.inputs, again.inputs)
    assert torch.equal(one.targets, again.targets)
    assert not torch.equal(one.inputs, other.inputs)


def test_no_two_images_are_the_same() -> None:
    dataset = images()
    pixels = torch.cat(
        [in_memory(split).inputs[:, 0, 0, 0] for split in (dataset.training, dataset.validation)]
    )

    assert len(pixels.unique()) > 0.95 * len(pixels)


def test_a_class_has_its_colour_in_both_splits() -> None:
    dataset = images()
    training, held_out = in_memory(dataset.training), in_memory(dataset.validation)
    colours = torch.stack([training.inputs[training.targets == label].mean((0, 2, 3)) for label in range(8)])

    guessed = torch.cdist(held_out.inputs.mean((2, 3)), colours).argmin(1)

    assert (guessed == held_out.targets).float().mean().item() > 0.9


def test_a_class_has_its_stripes() -> None:
    training = in_memory(images(side=64).training)
    spectra = torch.fft.rfft2(training.inputs.mean(1)).abs()
    spectra[:, 0, 0] = 0
    strongest = spectra.flatten(1).argmax(1)

    found = [strongest[training.targets == label].mode().values.item() for label in range(8)]

    assert len(set(found)) >= 7, "each class has a wave of its own"


def test_a_pool_larger_than_its_noise_is_drawn_too() -> None:
    dataset = images(training=3, validation=0, side=1300)

    assert torch.isfinite(in_memory(dataset.training).inputs).all()


def test_samples_are_gathered_in_the_order_asked_for() -> None:
    split = images().training
    inputs, targets = split.gather(torch.tensor([7, 3, 7]))
    first, label = split[7]

    assert inputs.shape == (3, 3, 40, 40)
    assert torch.equal(inputs[0], inputs[2])
    assert torch.equal(inputs[0], first)
    assert targets[0] == targets[2] == label
    assert torch.equal(split.gather(slice(3, 4))[0][0], inputs[1])


def test_a_data_loader_takes_a_split() -> None:
    split = images().training
    loader: DataLoader[Any] = DataLoader(split, batch_size=64)  # type: ignore[arg-type]

    batches = list(loader)

    assert [len(labels) for _, labels in batches] == [64, 64, 64, 8]
    assert torch.equal(torch.cat([inputs for inputs, _ in batches]), in_memory(split).inputs)
