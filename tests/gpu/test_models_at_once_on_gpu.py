"""Models at once on a real GPU: each as it would be alone, and how many more samples a second."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gputrain_runner.worker import data, ensemble, losses, models, optimizers
from training import in_memory
from training_presets import small

Note = Callable[[str, float, str], None]
PRESET = small("lasagne-mlp", training_samples=128 * 50)
BATCH = 128


def train(model: nn.Module, count: int, steps: int, inputs: Tensor, targets: Tensor) -> Tensor:
    """Train `count` models, or one alone; the losses (steps, models) on the device."""
    optimizer = optimizers.build(PRESET.optimizer, model.parameters())
    measure = losses.build(PRESET.loss)
    found = []
    for step in range(steps):
        rows = slice(step % 50 * BATCH, step % 50 * BATCH + BATCH)
        outputs = model(inputs[rows])
        if count > 1:
            each = ensemble.losses(measure, outputs, targets[rows])
        else:
            each = measure(outputs, targets[rows])[None]
        each.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(each.detach())
    return torch.stack(found)


def built(count: int, seed: int = 0) -> nn.Module:
    if count > 1:
        return ensemble.build(PRESET.model, "x1", count, seed).cuda()
    torch.manual_seed(seed)
    return models.build(PRESET.model, "x1").cuda()


def samples() -> tuple[Tensor, Tensor]:
    split = data.load(PRESET.data, PRESET.model).training
    return in_memory(split).inputs.cuda(), in_memory(split).targets.cuda()


def test_each_of_eight_has_the_losses_of_a_run_of_its_own() -> None:
    inputs, targets = samples()
    together = train(built(8), 8, 50, inputs, targets)
    for index in range(8):
        alone = train(built(1, seed=index), 1, 50, inputs, targets)
        torch.testing.assert_close(together[:, index], alone[:, 0], atol=1e-4, rtol=0)


@pytest.mark.parametrize("count", [32, 512])
def test_how_many_more_samples_a_second(count: int, note: Note) -> None:
    inputs, targets = samples()
    rates = {}
    for of in (1, count):
        model = built(of)
        train(model, of, 20, inputs, targets)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        train(model, of, 100, inputs, targets)
        end.record()
        end.synchronize()
        rates[of] = 100 * BATCH * of / begin.elapsed_time(end) * 1e3
    note(f"lasagne-mlp, batch {BATCH}, {count} models at once", rates[count], "samples/s")
    note("  against one", rates[count] / rates[1], "x")
    assert rates[count] > rates[1]
