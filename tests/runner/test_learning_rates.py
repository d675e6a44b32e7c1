"""Learning rates of models at once: each model trains as it would alone, with its own rate and seed."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from msgspec import structs

from gputrain_presets import Preset
from gputrain_runner import settings
from gputrain_runner.protocol import Finished
from gputrain_runner.worker import changes, data
from gputrain_runner.worker.trainer import Trainer
from training import OPTIMIZERS, losses_of
from training_presets import small
from user_presets import MODEL, write
from user_training import complaint, load, train, users_modules  # noqa: F401 - a fixture

STEPS = 50
SEED = 5
RATES = [0.08, 0.3, 0.02]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def with_rates(optimizer: str, rates: list[float] | None) -> Preset:
    """Of one rate: a preset as a single run has it."""
    lr = OPTIMIZERS[optimizer].lr if rates is None else rates[0]
    of = structs.replace(OPTIMIZERS[optimizer], lr=lr, learning_rates=rates)
    return structs.replace(small("lasagne-mlp"), optimizer=of)


def training(preset: Preset, count: int = 1, weights_seed: int = SEED) -> Trainer:
    """A training that takes the samples in the order of SEED."""
    dataset = data.load(preset.data, preset.model)
    begin = settings.initial(preset, "cpu").with_value("models_at_once", count)
    begin = begin.with_value("model_size", "x0.5")
    torch.manual_seed(weights_seed)
    return Trainer(preset, dataset, begin, SEED)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_each_model_trains_as_the_single_run_with_its_rate_and_seed(optimizer: str) -> None:
    scale = OPTIMIZERS[optimizer].lr / 0.1
    rates = [rate * scale for rate in RATES]
    together = training(with_rates(optimizer, rates), count=5)
    found = losses_of(together, STEPS)

    singles = []
    for index in range(5):
        one = training(with_rates(optimizer, [rates[index % 3]]), weights_seed=SEED + index)
        singles.append(losses_of(one, STEPS))
        for many, own in zip(together.model.parameters(), one.model.parameters(), strict=True):
            torch.testing.assert_close(many[index], own, atol=1e-4, rtol=1e-3)
    expected = [sum(losses) / 5 for losses in zip(*singles, strict=True)]
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1e-4
    assert all(losses[-1] < losses[0] for losses in singles)
    assert max(abs(a - b) for a, b in zip(singles[0], singles[2], strict=True)) > 1e-3, "rates matter"


def test_the_first_model_keeps_its_rate_when_others_come_and_go() -> None:
    rates = [0.05, 0.5]
    expected = losses_of(training(with_rates("nesterov", rates[:1])), 40)
    of = training(with_rates("nesterov", rates))
    found = losses_of(of, 10)
    assert changes.make(of, "models_at_once", 4).error is None
    losses_of(of, 9)
    assert changes.make(of, "models_at_once", 1).error is None
    assert of.loss is not None
    found += [*expected[10:20], of.loss.item(), *losses_of(of, 19)]

    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= 1e-4


TABLE = 'name = "AdamW"\nlr = 0.01\narguments = { weight_decay = 0.01, betas = [0.9, 0.99] }'
NORMED = MODEL.replace("self.hidden = ", "self.normed = nn.BatchNorm1d(12)\n        self.hidden = ")


@pytest.mark.parametrize("optimizer", ["LBFGS", "Adafactor"])
def test_rates_that_an_optimizer_cannot_give_its_models_are_refused(optimizer: str, tmp_path: Path) -> None:
    table = f'name = "{optimizer}"\nlearning_rates = [0.1, 0.2]'
    said = complaint(write(tmp_path, (TABLE, table)))

    assert said.startswith("optimizer.learning_rates: found 2, but ")
    assert f"{optimizer} does not treat each number by itself" in said


def test_rates_for_a_model_that_cannot_be_stacked_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, (TABLE, 'name = "SGD"\nlearning_rates = [0.1, 0.2]'), model=NORMED)

    assert complaint(path).startswith("optimizer.learning_rates: found 2, but this model keeps statistics in")


def test_a_users_own_models_are_given_their_rates(tmp_path: Path) -> None:
    path = write(tmp_path, (TABLE, 'name = "SGD"\nlearning_rates = [0.1, 0.2]'))
    begin = settings.initial(load(path), "cpu").with_value("models_at_once", 2)

    [finished] = [report for report in train(path, settings=begin) if isinstance(report, Finished)]

    assert finished.samples == 5 * 16 * 2
