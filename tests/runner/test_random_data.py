"""Random data of given shapes and types: it is what was asked for, and can be learnt."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from msgspec import structs
from torch import Tensor, nn

from gputrain_presets.user_data import Numbers, RandomData
from gputrain_runner.worker import data
from gputrain_runner.worker.data import Dataset, Split


def random_data(inputs: Numbers, targets: Numbers, samples: int = 400) -> RandomData:
    return RandomData(inputs=inputs, targets=targets, training_samples=samples, validation_samples=50)


def load(what: RandomData) -> Dataset:
    return data.load(what, None)  # type: ignore[arg-type]


def split_of(dataset: Dataset) -> Split:
    assert isinstance(dataset.training, Split)
    return dataset.training


@pytest.mark.parametrize(
    ("inputs", "targets"),
    [
        (Numbers(shape=[3, 8, 8]), Numbers(shape=[], dtype="int64", classes=5)),
        (Numbers(shape=[20]), Numbers(shape=[3])),
        (Numbers(shape=[3, 8, 8]), Numbers(shape=[8, 8], dtype="int64", classes=4)),
        (Numbers(shape=[12], dtype="int64", classes=100), Numbers(shape=[12], dtype="int64", classes=100)),
        (Numbers(shape=[12], dtype="int64", classes=100), Numbers(shape=[])),
        (Numbers(shape=[]), Numbers(shape=[2, 2])),
    ],
)
def test_random_data_has_the_shapes_and_types_asked_for(inputs: Numbers, targets: Numbers) -> None:
    wanted = random_data(inputs, targets)

    dataset = load(wanted)

    assert dataset.synthetic
    assert dataset.description.startswith("synthetic")
    assert dataset.validation is not None
    for split, samples in ((dataset.training, 400), (dataset.validation, 50)):
        assert isinstance(split, Split)
        for numbers, tensor in ((inputs, split.inputs), (targets, split.targets)):
            assert tensor.shape == (samples, *numbers.shape)
            assert tensor.dtype == getattr(torch, numbers.dtype)
            if numbers.classes is not None:
                assert 0 <= int(tensor.min()) <= int(tensor.max()) < numbers.classes
    examples = data.example_inputs(wanted, 2)
    assert (examples.shape[1:], examples.dtype) == (
        split_of(dataset).inputs.shape[1:],
        split_of(dataset).inputs.dtype,
    )
    assert torch.equal(split_of(load(wanted)).inputs, split_of(dataset).inputs)
    other = split_of(load(structs.replace(wanted, seed=1)))
    assert not torch.equal(other.inputs, split_of(dataset).inputs)


def learnt(model: nn.Module, loss_of: Callable[[Tensor, Tensor], Tensor], wanted: RandomData) -> float:
    """Loss on the validation samples after some epochs, as a share of that before."""
    torch.manual_seed(0)
    dataset = load(wanted)
    assert isinstance(dataset.validation, Split)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    split, unseen = split_of(dataset), dataset.validation
    before = loss_of(model(unseen.inputs), unseen.targets).item()
    for _ in range(8):
        for rows in torch.arange(len(split)).split(50):
            loss_of(model(split.inputs[rows]), split.targets[rows]).backward()
            optimizer.step()
            optimizer.zero_grad()
    return float(loss_of(model(unseen.inputs), unseen.targets).item()) / before


@pytest.mark.parametrize("kind", ["perceptron", "convolution", "numbers", "words", "pixels"])
def test_random_data_can_be_learnt_and_holds_for_what_was_not_seen(kind: str) -> None:
    torch.manual_seed(0)
    label = Numbers(shape=[], dtype="int64", classes=4)
    image, cross_entropy = Numbers(shape=[3, 8, 8]), nn.functional.cross_entropy
    if kind == "perceptron":
        model: nn.Module = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 4))
        share = learnt(model, cross_entropy, random_data(Numbers(shape=[20]), label))
    elif kind == "convolution":
        layers = (nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 4))
        share = learnt(nn.Sequential(*layers), cross_entropy, random_data(image, label))
    elif kind == "numbers":
        model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 3))
        share = learnt(model, nn.functional.mse_loss, random_data(Numbers(shape=[30]), Numbers(shape=[3])))
    elif kind == "words":
        model = nn.Sequential(nn.EmbeddingBag(50, 16), nn.Linear(16, 4))
        share = learnt(
            model, cross_entropy, random_data(Numbers(shape=[12], dtype="int64", classes=50), label)
        )
    else:
        model = nn.Sequential(nn.Conv2d(3, 16, 1), nn.ReLU(), nn.Conv2d(16, 4, 1))
        share = learnt(
            model, cross_entropy, random_data(image, Numbers(shape=[8, 8], dtype="int64", classes=4))
        )

    assert share < 0.8
