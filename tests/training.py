"""Trainers for tests, in this process, and checks that any device must pass."""

from __future__ import annotations

import torch
from msgspec import structs

from gputrain_presets import Preset
from gputrain_presets.spec import AdamOptimizer, NadamOptimizer, SgdOptimizer
from gputrain_runner import settings
from gputrain_runner.settings import Settings
from gputrain_runner.worker import data
from gputrain_runner.worker.data import AnySplit, Split
from gputrain_runner.worker.trainer import Trainer
from training_presets import small


def trainer(preset: Preset, device: str = "cpu", seed: int = 0) -> Trainer:
    """A trainer on that preset's starting settings."""
    torch.manual_seed(seed)
    dataset = data.load(preset.data, preset.model)
    return Trainer(preset, dataset, settings.initial(preset, device), seed)


def in_memory(split: AnySplit | None) -> Split:
    """A split whose samples lie in memory, as those of a synthetic data set do."""
    assert isinstance(split, Split)
    return split


def losses_of(of: Trainer, steps: int) -> list[float]:
    """Train some steps; the loss of each."""
    values = []
    for _ in range(steps):
        if of.order.exhausted:
            of.begin_epoch()
        of.step()
        assert of.loss is not None
        values.append(of.loss.item())
    return values


def moved(of: Trainer, device: str) -> None:
    """Move it, as a change of the device setting does."""
    changed: Settings = of.settings.with_value("device", device)
    of.reconfigure(changed, of.save())


OPTIMIZERS: dict[str, SgdOptimizer | AdamOptimizer | NadamOptimizer] = {
    "nesterov": SgdOptimizer(lr=0.1, momentum=0.9, nesterov=True),
    "adam": AdamOptimizer(),
    "nadam": NadamOptimizer(),
}


def check_moving_keeps_the_curve(home: str, away: str, optimizer: str, tolerance: float) -> None:
    """Home, away and home again gives the losses of staying at home."""
    preset = structs.replace(small("lasagne-mlp"), optimizer=OPTIMIZERS[optimizer])
    stays, moves = trainer(preset, home), trainer(preset, home)
    expected = losses_of(stays, 60)
    found = losses_of(moves, 20)
    moved(moves, away)
    assert {parameter.device.type for parameter in moves.model.parameters()} == {torch.device(away).type}
    found += losses_of(moves, 20)
    moved(moves, home)
    found += losses_of(moves, 20)
    assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) <= tolerance
    assert expected[-1] < expected[0]
