"""hier-bilstm on a real GPU: cuDNN against the loop over steps, without a wait for the device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from msgspec import structs
from torch import Tensor
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

import gputrain_presets
from gputrain_runner.worker import data, flop_formulas, models
from gputrain_runner.worker.execution import precision
from gputrain_runner.worker.models.hier_bilstm import RECURRENCES, HierBiLstm
from training import in_memory

Note = Callable[[str, float, str], None]
PRESET = gputrain_presets.load("hier-bilstm")


@pytest.fixture(autouse=True)
def exact_cudnn() -> None:
    """cuDNN's recurrent layers use TF32 by themselves; compared are float32 sums."""
    precision.set_flags("fp32")


def model_and_batches(count: int, size: str = "128") -> tuple[HierBiLstm, list[tuple[Tensor, Tensor]]]:
    less = structs.replace(PRESET.data, training_samples=32 * count, validation_samples=0)
    split = data.load(less, PRESET.model).training
    torch.manual_seed(0)
    model = models.build(PRESET.model, size)
    assert isinstance(model, HierBiLstm)
    inputs, targets = in_memory(split).inputs.cuda().split(32), in_memory(split).targets.cuda().split(32)
    return model.cuda(), list(zip(inputs, targets, strict=True))


def train(recurrence: str, count: int) -> list[Tensor]:
    """The loss of each step of Adam, on the device."""
    model, batches = model_and_batches(count)
    model.set_recurrence(recurrence)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def test_fused_and_stepwise_have_the_same_losses() -> None:
    fused, stepwise = (torch.stack(train(recurrence, 20)) for recurrence in RECURRENCES)
    torch.testing.assert_close(stepwise, fused, atol=1e-4, rtol=0)


@pytest.mark.parametrize("recurrence", RECURRENCES)
def test_a_step_never_waits_for_the_device(recurrence: str) -> None:
    train(recurrence, 1)
    torch.cuda.synchronize()
    model, batches = model_and_batches(1)
    model.set_recurrence(recurrence)
    inputs, targets = batches[0]
    torch.cuda.set_sync_debug_mode("error")
    try:
        functional.cross_entropy(model(inputs), targets).backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_cudnns_layers_count_as_the_loop_does() -> None:
    flop_formulas.register()
    model, batches = model_and_batches(1)
    counts = []
    for recurrence in RECURRENCES:
        model.set_recurrence(recurrence)
        with FlopCounterMode(display=False) as counter:
            functional.cross_entropy(model(batches[0][0]), batches[0][1]).backward()
        counts.append(counter.get_total_flops())
    assert counts[0] == counts[1]


def test_what_the_loop_costs(note: Note) -> None:
    times_ms = {}
    for recurrence in RECURRENCES:
        train(recurrence, 5)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        train(recurrence, 20)
        end.record()
        end.synchronize()
        times_ms[recurrence] = begin.elapsed_time(end) / 20
        note(f"hier-bilstm 128, batch 32, {recurrence}", times_ms[recurrence], "ms/step")
    note("  stepwise / fused", times_ms["stepwise"] / times_ms["fused"], "x")
    assert times_ms["stepwise"] > times_ms["fused"]
