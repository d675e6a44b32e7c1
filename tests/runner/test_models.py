"""Models, losses and optimizers as the built-in presets name them, and that they learn."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from msgspec import structs
from torch import nn

import gputrain_presets
from gputrain_presets import Preset
from gputrain_presets.spec import AdamOptimizer, CrossEntropyLoss, MlpModel, MlpSize, MseLoss
from gputrain_runner.worker import data, losses, models, optimizers
from training import in_memory

EVERY_SIZE = [
    (name, size) for name in gputrain_presets.names() for size in gputrain_presets.load(name).size_names
]


@pytest.fixture(autouse=True)
def fixed_random_state() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def small_mlp(**changes: object) -> MlpModel:
    model = MlpModel(
        inputs=300,
        outputs=7,
        activation="relu",
        default_size="small",
        sizes=[MlpSize(name="small", hidden=[200, 100])],
    )
    return structs.replace(model, **changes)


@pytest.mark.parametrize(("name", "size"), EVERY_SIZE)
def test_a_model_has_the_parameters_that_its_origin_states(name: str, size: str) -> None:
    preset = gputrain_presets.load(name)
    with torch.device("meta"):
        model = models.build(preset.model, size)

    stated = preset.size(size).parameters
    counted = sum(parameter.numel() for parameter in model.parameters())

    assert counted > 0
    assert stated in (None, counted)


def test_an_mlp_is_linear_activation_and_dropout_for_each_hidden_layer() -> None:
    model = models.build(small_mlp(dropout=0.2, output_activation="tanh"), "small")

    assert [str(layer) for layer in model.children() if not isinstance(layer, nn.Linear)] == [
        "ReLU()",
        "Dropout(p=0.2, inplace=False)",
        "ReLU()",
        "Dropout(p=0.2, inplace=False)",
        "Tanh()",
    ]
    assert [
        (layer.in_features, layer.out_features) for layer in model.children() if isinstance(layer, nn.Linear)
    ] == [(300, 200), (200, 100), (100, 7)]
    assert model.training


@pytest.mark.parametrize("activation", ["relu", "elu", "tanh", "sigmoid", "gelu"])
def test_every_activation_works(activation: str) -> None:
    mlp = small_mlp(activation=activation)

    outputs = models.build(mlp, "small")(models.example_inputs(mlp, 3))

    assert outputs.shape == (3, 7)


def test_glorot_uniform_weights_fill_their_range_and_biases_are_zero() -> None:
    model = models.build(small_mlp(initialisation="glorot_uniform"), "small")

    for layer in (layer for layer in model.children() if isinstance(layer, nn.Linear)):
        limit = math.sqrt(6 / (layer.in_features + layer.out_features))
        assert 0.95 * limit < layer.weight.abs().max().item() <= limit
        assert layer.weight.std().item() == pytest.approx(limit / math.sqrt(3), rel=0.1)
        assert not layer.bias.any()


def test_he_normal_weights_have_their_spread_and_biases_are_zero() -> None:
    model = models.build(small_mlp(initialisation="he_normal"), "small")

    for layer in (layer for layer in model.children() if isinstance(layer, nn.Linear)):
        assert layer.weight.std().item() == pytest.approx(math.sqrt(2 / layer.in_features), rel=0.1)
        assert not layer.bias.any()


def test_pytorchs_own_initialisation_is_left_as_it_is() -> None:
    model = models.build(small_mlp(initialisation="pytorch"), "small")
    torch.manual_seed(0)
    first = nn.Linear(300, 200)

    assert torch.equal(next(model.parameters()), first.weight)
    assert all(parameter.any() for parameter in model.parameters())


def test_the_random_state_decides_the_weights() -> None:
    preset = gputrain_presets.load("lasagne-mlp")
    one, other = models.build(preset.model, "x1"), models.build(preset.model, "x1")
    torch.manual_seed(0)
    again = models.build(preset.model, "x1")

    assert torch.equal(next(one.parameters()), next(again.parameters()))
    assert not torch.equal(next(one.parameters()), next(other.parameters()))


def test_a_model_is_built_on_the_default_device() -> None:
    with torch.device("meta"):
        model = models.build(small_mlp(initialisation="glorot_uniform"), "small")

    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}


def test_an_unknown_size_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="huge"):
        models.build(small_mlp(), "huge")


def test_losses() -> None:
    outputs, numbers = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0, 2.0], [3.0, 1.0]])
    scores, labels = torch.zeros(5, 10), torch.arange(5)

    assert losses.build(MseLoss())(outputs, numbers).item() == pytest.approx((1 + 9) / 4)
    assert losses.build(CrossEntropyLoss())(scores, labels).item() == pytest.approx(math.log(10))
    assert not losses.counts_correct(MseLoss())
    assert losses.counts_correct(CrossEntropyLoss())


def test_an_optimizer_has_the_presets_figures() -> None:
    parameters = [torch.zeros(3, requires_grad=True)]
    sgd = optimizers.build(gputrain_presets.load("lasagne-mlp").optimizer, parameters)
    nadam = optimizers.build(gputrain_presets.load("keras-mnist-mlp").optimizer, parameters)
    adam = optimizers.build(AdamOptimizer(lr=0.01, betas=(0.8, 0.9), eps=1e-6), parameters)

    assert isinstance(sgd, torch.optim.SGD)
    assert sgd.defaults.items() >= {"lr": 0.5, "momentum": 0.5, "nesterov": True, "dampening": 0}.items()
    assert isinstance(nadam, torch.optim.NAdam)
    assert nadam.defaults.items() >= {"lr": 0.002, "eps": 1e-8, "momentum_decay": 0.004}.items()
    assert isinstance(adam, torch.optim.Adam)
    assert adam.defaults.items() >= {"lr": 0.01, "betas": (0.8, 0.9), "eps": 1e-6}.items()


def losses_while_training(preset: Preset, dataset: data.Dataset, model: nn.Module, steps: int) -> list[float]:
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    loss_of = losses.build(preset.loss)
    inputs, targets = in_memory(dataset.training).inputs, in_memory(dataset.training).targets
    seen = []
    for _ in range(steps):
        chosen = torch.randint(len(dataset.training), (preset.batch_size,))
        loss = loss_of(model(inputs[chosen]), targets[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
    return seen


@pytest.mark.parametrize(
    ("name", "size", "left"), [("lasagne-mlp", "x1", 0.15), ("keras-mnist-mlp", "100", 0.7)]
)
def test_a_preset_learns_with_its_own_optimizer_and_batch(name: str, size: str, left: float) -> None:
    preset = gputrain_presets.load(name)
    less = structs.replace(preset.data, training_samples=20_000, validation_samples=2_000)
    dataset = data.load(less, preset.model)
    model = models.build(preset.model, size)

    seen = losses_while_training(preset, dataset, model, steps=300)

    assert sum(seen[-20:]) / 20 < left * seen[0]
    assert dataset.validation is not None
    model.eval()
    with torch.no_grad():
        outputs = model(in_memory(dataset.validation).inputs)
    validation = losses.build(preset.loss)(outputs, in_memory(dataset.validation).targets).item()
    assert validation < left * seen[0]
    if losses.counts_correct(preset.loss):
        correct = (outputs.argmax(1) == in_memory(dataset.validation).targets).float().mean().item()
        assert correct > 0.5
