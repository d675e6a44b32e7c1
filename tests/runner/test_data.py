"""The synthetic data: shapes, the same for a seed, and something in it to learn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from msgspec import structs

import gputrain_presets
from gputrain_presets.spec import DigitsData, MlpModel, TeacherData
from gputrain_runner.worker import data
from gputrain_runner.worker.data import generation
from training import in_memory

LASAGNE = gputrain_presets.load("lasagne-mlp")
KERAS = gputrain_presets.load("keras-mnist-mlp")


def teacher(training: int = 6000, validation: int = 2000, noise: float = 0.05, seed: int = 0) -> data.Dataset:
    wanted = TeacherData(training_samples=training, validation_samples=validation, noise=noise, seed=seed)
    return data.load(wanted, LASAGNE.model)


def digits(training: int = 3000, validation: int = 1000, **changes: object) -> data.Dataset:
    wanted = DigitsData(training_samples=training, validation_samples=validation)
    return data.load(structs.replace(wanted, **changes), KERAS.model)


def validation_of(dataset: data.Dataset) -> data.Split:
    return in_memory(dataset.validation)


def test_the_teachers_data_has_the_shapes_asked_for() -> None:
    dataset = teacher()

    for split, samples in ((in_memory(dataset.training), 6000), (validation_of(dataset), 2000)):
        assert len(split) == samples
        assert (split.inputs.shape, split.inputs.dtype) == ((samples, 75), torch.float32)
        assert (split.targets.shape, split.targets.dtype) == ((samples, 10), torch.float32)
        assert split.inputs.is_contiguous()
        assert split.targets.is_contiguous()
    assert dataset.synthetic
    assert dataset.description.startswith("synthetic")


def test_the_teachers_inputs_are_standard_normal() -> None:
    inputs = in_memory(teacher().training).inputs

    assert inputs.mean(0).abs().max().item() < 0.06
    assert inputs.std(0).sub(1).abs().max().item() < 0.06
    assert inputs.abs().max().item() > 4


def test_the_teachers_targets_are_within_reach_and_spread() -> None:
    targets = in_memory(teacher(noise=0.0).training).targets

    assert targets.abs().max().item() < 1
    assert targets.std(0).min().item() > 0.3
    assert targets.abs().gt(0.95).float().mean().item() < 0.2


def test_noise_is_what_is_added_to_the_teachers_outputs() -> None:
    clean, noisy = teacher(noise=0.0), teacher(noise=0.05)

    added = in_memory(noisy.training).targets - in_memory(clean.training).targets

    assert torch.equal(in_memory(clean.training).inputs, in_memory(noisy.training).inputs)
    assert added.std().item() == pytest.approx(0.05, rel=0.05)
    assert added.mean().abs().item() < 0.005


def test_training_and_validation_have_the_same_teacher() -> None:
    """A linear fit to one explains most of the other, though they share no sample."""
    dataset = teacher(noise=0.0)
    held_out = validation_of(dataset)
    fit = torch.linalg.lstsq(in_memory(dataset.training).inputs, in_memory(dataset.training).targets).solution
    left = (held_out.inputs @ fit - held_out.targets).var() / held_out.targets.var()

    assert left.item() < 0.5
    assert not torch.isin(held_out.inputs[:, 0], in_memory(dataset.training).inputs[:, 0]).all()


@pytest.mark.parametrize("make", [teacher, digits])
def test_a_seed_decides_the_data(make: Callable[..., data.Dataset]) -> None:
    one, again, other = make(seed=1), make(seed=1), make(seed=2)

    for ours, same, different in zip(*map(tensors, (one, again, other)), strict=True):
        assert torch.equal(ours, same)
        assert not torch.equal(ours, different)


@pytest.mark.parametrize("make", [teacher, digits])
def test_the_number_of_cores_changes_no_random_number(
    make: Callable[..., data.Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    many = make()
    monkeypatch.setattr(generation, "_threads", lambda: 1)
    one = make()

    assert torch.equal(in_memory(many.training).inputs, in_memory(one.training).inputs)


def tensors(dataset: data.Dataset) -> list[torch.Tensor]:
    held_out = validation_of(dataset)
    training = in_memory(dataset.training)
    return [training.inputs, training.targets, held_out.inputs, held_out.targets]


def test_the_data_is_the_same_for_every_size_of_the_model() -> None:
    wanted = TeacherData(training_samples=500, validation_samples=0)
    model = LASAGNE.model
    assert isinstance(model, MlpModel)
    larger = structs.replace(model, default_size="x16", sizes=model.sizes[-1:])

    one, other = data.load(wanted, model), data.load(wanted, larger)

    assert torch.equal(in_memory(one.training).inputs, in_memory(other.training).inputs)
    assert torch.equal(in_memory(one.training).targets, in_memory(other.training).targets)


@pytest.mark.parametrize("make", [teacher, digits])
def test_without_validation_samples_there_is_no_validation_split(make: Callable[..., data.Dataset]) -> None:
    assert make(100, 0).validation is None


def test_the_stand_in_for_digits_has_their_shapes() -> None:
    dataset = digits()

    for split, samples in ((in_memory(dataset.training), 3000), (validation_of(dataset), 1000)):
        assert (split.inputs.shape, split.inputs.dtype) == ((samples, 784), torch.float32)
        assert (split.targets.shape, split.targets.dtype) == ((samples,), torch.int64)
        assert split.inputs.is_contiguous()
        assert split.inputs.min().item() >= 0
        assert split.inputs.max().item() <= 1
        assert split.targets.bincount(minlength=10).min().item() > samples / 20
        assert split.targets.max().item() == 9
    assert dataset.synthetic
    assert dataset.description.startswith("synthetic")


def test_l2_makes_every_sample_of_length_one() -> None:
    plain, normalised = digits(), digits(normalise="l2")
    length = in_memory(plain.training).inputs.norm(dim=1, keepdim=True)

    assert torch.allclose(in_memory(normalised.training).inputs.norm(dim=1), torch.ones(3000))
    assert torch.allclose(
        in_memory(normalised.training).inputs * length, in_memory(plain.training).inputs, atol=1e-6
    )
    assert torch.equal(in_memory(normalised.training).targets, in_memory(plain.training).targets)


def test_the_stand_in_is_neither_hopeless_nor_given_away() -> None:
    """The nearest class mean is right far more often than chance, and far from always."""
    dataset = digits(normalise="l2")
    training, held_out = in_memory(dataset.training), validation_of(dataset)
    means = torch.stack([training.inputs[training.targets == label].mean(0) for label in range(10)])

    guessed = torch.cdist(held_out.inputs, means).argmin(1)
    correct = (guessed == held_out.targets).float().mean().item()

    assert 0.35 < correct < 0.85


def test_data_that_no_memory_can_hold_is_an_error_of_one_line() -> None:
    with pytest.raises(data.DataError, match=r"needs 3[\d,]*\.0 GB, more memory than there is") as caught:
        teacher(training=10**15)

    assert "\n" not in str(caught.value)
