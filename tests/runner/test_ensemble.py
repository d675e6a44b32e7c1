"""Models at once: each of them trains as it would alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from msgspec import structs
from torch import Tensor, nn
from torch.nn import functional

from gputrain_presets import Preset, spec
from gputrain_presets.spec import AdamOptimizer, NadamOptimizer, SgdOptimizer
from gputrain_runner.worker import data, ensemble, losses, models, optimizers, stacking
from training import in_memory
from training_presets import small

COUNT = 8
STEPS = 50
BATCH = 64
OPTIMIZERS: dict[str, SgdOptimizer | AdamOptimizer | NadamOptimizer] = {
    "nesterov": SgdOptimizer(lr=0.5, momentum=0.5, nesterov=True),
    "decayed": SgdOptimizer(lr=0.1, momentum=0.9, weight_decay=0.01),
    "adam": AdamOptimizer(),
    "nadam": NadamOptimizer(),
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def batches(preset: Preset) -> list[tuple[Tensor, Tensor]]:
    split = data.load(preset.data, preset.model).training
    rows = [slice(BATCH * step % 1920, BATCH * step % 1920 + BATCH) for step in range(STEPS)]
    return [(in_memory(split).inputs[chosen], in_memory(split).targets[chosen]) for chosen in rows]


def alone(preset: Preset, size: str, seed: int, lr: float | None = None) -> list[float]:
    """The losses of a run of one model, with that seed and that learning rate."""
    torch.manual_seed(seed)
    model = models.build(preset.model, size)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    if lr is not None:
        optimizer.param_groups[0]["lr"] = lr
    measure = losses.build(preset.loss)
    found = []
    for inputs, targets in batches(preset):
        loss = measure(model(inputs), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.item())
    return found


def together(preset: Preset, size: str, seed: int, rates: list[float] | None = None) -> list[list[float]]:
    """The losses of each of COUNT models, for every step."""
    model = ensemble.build(preset.model, size, COUNT, seed)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    assert ensemble.refusal(models.build(preset.model, size), optimizer) is None
    if rates is not None:
        ensemble.set_rates(optimizer, rates)
    measure = losses.build(preset.loss)
    found = []
    for inputs, targets in batches(preset):
        outputs = model(inputs)
        found.append(ensemble.losses(measure, outputs, targets).tolist())
        loss = ensemble.mean_loss(measure)(outputs, targets)
        loss.backward(torch.tensor(float(COUNT)))
        optimizer.step()
        optimizer.zero_grad()
        assert loss.item() == pytest.approx(sum(found[-1]) / COUNT, abs=1e-5)
    return found


def furthest(found: list[list[float]], expected: list[list[float]]) -> float:
    """The largest difference of any model's loss at any step."""
    difference = torch.tensor(found).t() - torch.tensor(expected)
    return float(difference.abs().max())


def without_dropout(name: str) -> Preset:
    preset = small(name)
    return structs.replace(preset, model=structs.replace(preset.model, dropout=0.0))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_model_has_the_losses_of_a_run_with_its_seed(optimizer: str) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=OPTIMIZERS[optimizer])
    expected = [alone(preset, "x1", seed=5 + index) for index in range(COUNT)]
    found = together(preset, "x1", seed=5)
    assert furthest(found, expected) <= 1e-4
    assert all(losses_[-1] < losses_[0] for losses_ in expected)
    assert len(set(found[0])) == COUNT


def test_a_classifier_has_the_losses_of_single_runs_too() -> None:
    preset = without_dropout("keras-mnist-mlp")
    expected = [alone(preset, "100", seed=index) for index in range(COUNT)]
    assert furthest(together(preset, "100", seed=0), expected) <= 1e-4


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_model_may_have_a_learning_rate_of_its_own(optimizer: str) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=OPTIMIZERS[optimizer])
    lr = OPTIMIZERS[optimizer].lr
    rates = [lr * 0.7**index for index in range(COUNT)]
    expected = [alone(preset, "x0.5", seed=index, lr=rates[index]) for index in range(COUNT)]
    found = together(preset, "x0.5", seed=0, rates=rates)
    assert furthest(found, expected) <= 1e-4
    # The check could tell: at one rate for all the losses are others.
    assert furthest(together(preset, "x0.5", seed=0), expected) > 1e-3


def test_building_leaves_the_random_state_alone() -> None:
    preset = small("lasagne-mlp")
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    ensemble.build(preset.model, "x1", 3, seed=9)
    assert torch.equal(torch.rand(4), expected)


def test_the_stacked_parameters_are_those_of_one_model_with_a_first_dimension() -> None:
    preset = small("keras-mnist-mlp")
    many, one = ensemble.build(preset.model, "100", 3, 0), models.build(preset.model, "100")
    assert list(many.state_dict()) == list(one.state_dict())
    for stacked, single in zip(many.parameters(), one.parameters(), strict=True):
        assert stacked.shape == (3, *single.shape)


def test_each_model_draws_its_own_dropout_and_none_in_evaluation() -> None:
    preset = small("keras-mnist-mlp")
    torch.manual_seed(0)
    model = stacking.stack([models.build(preset.model, "100")] * 3)
    inputs = data.load(preset.data, preset.model).training.gather(slice(8))[0]
    in_training = model(inputs)
    assert not torch.allclose(in_training[0], in_training[1])
    model.eval()
    evaluated = model(inputs)
    torch.testing.assert_close(evaluated[0], evaluated[1])


class Branches(nn.Module):
    """A net that is no chain: two branches, a layer used twice, a weight shared by two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 5)
        self.second = nn.Linear(6, 5)
        self.last = nn.Linear(5, 5)
        self.again = self.last
        self.second.weight = self.first.weight
        self.drop = nn.Dropout(0.5)

    def forward(self, inputs: Tensor) -> Tensor:
        both = functional.relu(self.first(inputs)) + torch.tanh(self.second(inputs))
        outputs: Tensor = self.again(self.drop(self.last(both)))
        return outputs


class Chain(nn.Sequential):
    """A chain whose activation mixes a sample's units, so that it is no chain of stacked layers."""

    def __init__(self) -> None:
        super().__init__(nn.Linear(6, 5, bias=False), nn.Softmax(dim=1), nn.Linear(5, 2))


@pytest.mark.parametrize("build", [Branches, Chain])
def test_other_models_are_stacked_too(build: Callable[[], nn.Module]) -> None:
    singles = []
    for seed in range(3):
        torch.manual_seed(seed)
        singles.append(build())
    many = stacking.stack(singles)
    assert isinstance(many, stacking.MappedModels)
    for stacked, first in zip(many.parameters(), singles[0].parameters(), strict=True):
        assert stacked.shape == (3, *first.shape)
    inputs = torch.randn(4, 6)
    many.train()
    many(inputs)
    many.eval()
    outputs = many(inputs)
    outputs.square().sum().backward()
    for index, single in enumerate(singles):
        single.eval()
        expected = single(inputs)
        torch.testing.assert_close(outputs[index], expected)
        expected.square().sum().backward()
        for stacked, parameter in zip(many.parameters(), single.parameters(), strict=True):
            assert stacked.grad is not None
            torch.testing.assert_close(stacked.grad[index], parameter.grad)


def test_what_cannot_be_stacked_is_refused_with_its_reason() -> None:
    adam = torch.optim.Adam([torch.zeros(1, requires_grad=True)])
    normed = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    assert "batch normalisation" in (ensemble.refusal(normed, adam) or "")
    with pytest.raises(ValueError, match="buffers"):
        stacking.stack([normed, normed])
    recurrent = nn.Sequential(nn.LSTM(4, 4))
    assert "recurrent" in (ensemble.refusal(recurrent, adam) or "")
    lbfgs = torch.optim.LBFGS([torch.zeros(1, requires_grad=True)])
    assert "LBFGS" in (ensemble.refusal(nn.Linear(4, 4), lbfgs) or "")


def trained(preset: Preset, count: int, steps: int) -> tuple[nn.Module, torch.optim.Optimizer]:
    """`count` models, or one alone, after some steps."""
    torch.manual_seed(0)
    model = built(preset.model, count)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    train(preset, model, optimizer, count, 0, steps)
    return model, optimizer


def built(model: spec.Model, count: int) -> nn.Module:
    return ensemble.build(model, "x0.5", count, seed=0) if count > 1 else models.build(model, "x0.5")


def train(
    preset: Preset, model: nn.Module, optimizer: torch.optim.Optimizer, count: int, first: int, steps: int
) -> None:
    measure = losses.build(preset.loss)
    for inputs, targets in batches(preset)[first : first + steps]:
        optimizer.zero_grad()
        if count > 1:
            ensemble.losses(measure, model(inputs), targets).sum().backward()
        else:
            measure(model(inputs), targets).backward()
        optimizer.step()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("before", "after"), [(1, 4), (4, 1), (2, 4), (4, 2)])
def test_models_that_stay_train_on_as_if_nothing_had_changed(before: int, after: int, optimizer: str) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=OPTIMIZERS[optimizer])
    unchanged, _ = trained(preset, before, 30)
    model, old = trained(preset, before, 15)
    new = built(preset.model, after)
    fresh = {name: value.clone() for name, value in new.state_dict().items()}
    new.load_state_dict(ensemble.resized_model(model.state_dict(), new.state_dict(), before))
    resized = optimizers.build(preset.optimizer, new.parameters())
    state = ensemble.resized_optimizer(old.state_dict(), list(new.parameters()), before)
    resized.load_state_dict(state)
    if after > before:
        for name, value in new.state_dict().items():
            assert torch.equal(value[before:], fresh[name][before:])
    train(preset, new, resized, after, 15, 15)
    stay = min(before, after)
    for kept, expected in zip(new.parameters(), unchanged.parameters(), strict=True):
        found = kept[None] if after == 1 else kept[:stay]
        as_expected = expected[None] if before == 1 else expected[:stay]
        torch.testing.assert_close(found, as_expected, atol=1e-4, rtol=1e-3)
