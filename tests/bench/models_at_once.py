"""Many small models in one step against one model alone: samples/s of lasagne-mlp on the CPU.

python tests/bench/models_at_once.py [PAIRS] [COUNT] [BATCH_SIZE]. Blocks of steps in turn, so that the
machine's drift hits both alike; the ratio is taken pair by pair.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from msgspec import structs

import gputrain_presets
from gputrain_runner.worker import data, ensemble, losses, models, optimizers
from measuring import line, median, spread
from training import in_memory

BLOCK_S = 0.5
PRESET = "lasagne-mlp"


def stepper(count: int, batch_size: int) -> Callable[[], None]:
    """A training step of `count` models at once, on a batch gathered on the host."""
    preset = gputrain_presets.load(PRESET)
    less = structs.replace(preset.data, training_samples=50_000, validation_samples=0)
    split = data.load(less, preset.model).training
    torch.manual_seed(0)
    size = preset.model.default_size
    many = count > 1
    model = ensemble.build(preset.model, size, count, 0) if many else models.build(preset.model, size)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    alone = losses.build(preset.loss)
    measure_loss = ensemble.mean_loss(alone) if many else alone
    weight = torch.tensor(float(count)) if many else None

    def step() -> None:
        chosen = torch.randint(len(split), (batch_size,))
        inputs, targets = (
            in_memory(split).inputs.index_select(0, chosen),
            in_memory(split).targets.index_select(0, chosen),
        )
        measure_loss(model(inputs), targets).backward(weight)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def samples_per_s(step: Callable[[], None], samples: int) -> float:
    """Over one block of steps."""
    for _ in range(3):
        step()
    steps = 0
    began = time.perf_counter()
    while time.perf_counter() - began < BLOCK_S:
        step()
        steps += 1
    return steps * samples / (time.perf_counter() - began)


def measure(pairs: int = 7, count: int = 32, batch_size: int = 128) -> list[dict[str, Any]]:
    """The ratio, with one thread and with as many as PyTorch takes by itself."""
    threads = torch.get_num_threads()
    lines = []
    for used in sorted({1, threads}):
        torch.set_num_threads(used)
        one, many = stepper(1, batch_size), stepper(count, batch_size)
        alone, together = [], []
        for _ in range(pairs):
            alone.append(samples_per_s(one, batch_size))
            together.append(samples_per_s(many, batch_size * count))
        ratios = [of_many / of_one for of_one, of_many in zip(alone, together, strict=True)]
        ratio = median(ratios)
        detail = f"{spread(ratios)}; {median(alone):,.0f} and {median(together):,.0f} samples/s"
        name = f"{count} models at once / one, {PRESET}, batch {batch_size}, threads {used}"
        lines.append(line(name, ratio, "", ">= 1.5", ratio >= 1.5, detail))
    return lines


if __name__ == "__main__":
    measure(*(int(argument) for argument in sys.argv[1:]))
