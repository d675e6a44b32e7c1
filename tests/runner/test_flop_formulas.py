"""FLOPs of fused recurrent layers are those of the same layers as single products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode, flop_registry

import gputrain_presets
from gputrain_presets.text_models import HierBiLstmModel
from gputrain_runner.worker import describe, flop_formulas
from gputrain_runner.worker.models.hier_bilstm import HierBiLstm

flop_formulas.register()


def counted(model: nn.Module, inputs: Tensor) -> tuple[int, int]:
    """FLOPs forward, and forward and backward together."""
    with FlopCounterMode(display=False) as forward:
        outputs = model(inputs)
        outputs = outputs[0] if isinstance(outputs, tuple) else outputs
    with FlopCounterMode(display=False) as backward:
        outputs.sum().backward()
    return forward.get_total_flops(), forward.get_total_flops() + backward.get_total_flops()


def test_fused_and_stepwise_count_the_same_for_the_same_padded_shape() -> None:
    model = HierBiLstm(words=50, embedding=20, hidden=24, outputs=5)
    short = torch.zeros(3, 6, 20, dtype=torch.int32)
    short[:, :1, :2] = 1
    full = torch.ones(3, 6, 20, dtype=torch.int32)
    forward, both = counted(model, full)
    by_hand = 3 * 2 * 4 * 24 * 2 * (6 * 20 * (20 + 24) + 6 * (48 + 24)) + 3 * 2 * 48 * 5
    assert forward == by_hand
    assert counted(model, short) == (forward, both)
    model.set_recurrence("stepwise")
    stepwise_forward, stepwise_both = counted(model, full)
    assert stepwise_forward == forward
    assert stepwise_both == both


def test_the_preset_counts_the_same_described_with_and_without_storage() -> None:
    preset = gputrain_presets.load("hier-bilstm")
    assert isinstance(preset.model, HierBiLstmModel)
    with torch.device("meta"):
        model = HierBiLstm(10_000, 100, 128, 5)
        forward, both = counted(model, torch.zeros(2, 12, 30, dtype=torch.int32))
    facts = {size.name: size.forward_flops_per_sample for size in describe.describe(preset)}
    assert facts["128"] == forward / 2 == 177_539_584
    assert describe.training_flops_per_sample(preset, "128") == both / 2


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize(("kind", "build"), [(2, nn.LSTM), (3, nn.GRU)])
def test_cudnns_layers_count_as_the_products_they_stand_for(
    kind: int, build: Callable[..., nn.Module], directions: int, layers: int
) -> None:
    """There is no cuDNN here, so its operations' arguments are given to the formulas."""
    with torch.device("meta"):
        unrolled = build(10, 16, num_layers=layers, bidirectional=directions == 2)
        inputs = torch.empty(7, 4, 10, requires_grad=True)
        state = torch.empty(layers * directions, 4, 16)
    expected_forward, expected_both = counted(unrolled, inputs)
    shape: list[Any] = [kind, 16, 0, layers, False, 0.0, True, directions == 2, [], None]
    tensors = [inputs, list(unrolled.parameters()), 4, None, state, state]
    forward = flop_registry[torch.ops.aten._cudnn_rnn](*tensors, *shape, out_val=None)
    assert forward == expected_forward
    tensors += [inputs, inputs, None, None]

    def backward(mask: list[bool]) -> Any:
        formula = flop_registry[torch.ops.aten._cudnn_rnn_backward]
        return formula(*tensors, *shape, inputs, mask, out_val=None)

    assert forward + backward([True, False, False, True]) == expected_both
    assert backward([True] * 4) == 2 * forward
    _, without_inputs = counted(unrolled, inputs.detach())
    assert forward + backward([False, False, False, True]) == without_inputs
