"""What the sizes of a preset amount to: figures, agreement with PyTorch's own counter, and its price."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import gputrain_presets
from gputrain_runner.worker import describe, models


def test_the_figures_of_the_origins_networks() -> None:
    lasagne, keras = gputrain_presets.load("lasagne-mlp"), gputrain_presets.load("keras-mnist-mlp")
    facts = {size.name: size for preset in (lasagne, keras) for size in describe.describe(preset)}

    assert (facts["x1"].parameters, facts["x1"].tensors) == (17_107, 8)
    assert facts["x1"].forward_flops_per_sample == 33_736
    assert describe.training_flops_per_sample(lasagne, "x1") == 95_208
    assert (facts["750"].parameters, facts["750"].tensors) == (712_010, 10)
    assert facts["750"].forward_flops_per_sample == 1_422_000
    assert describe.training_flops_per_sample(keras, "750") == 3_090_000


@pytest.mark.parametrize("name", gputrain_presets.names())
def test_flops_agree_with_pytorchs_own_counter(name: str) -> None:
    preset = gputrain_presets.load(name)
    size = preset.model.default_size
    with torch.device("meta"):
        model = models.build(preset.model, size)
        inputs = models.example_inputs(preset.model, 4)
    with FlopCounterMode(display=False) as forward:
        outputs = model(inputs)
    with FlopCounterMode(display=False) as backward:
        outputs.sum().backward()
    facts = {facts.name: facts for facts in describe.describe(preset)}

    assert facts[size].forward_flops_per_sample == forward.get_total_flops() / 4
    training = (forward.get_total_flops() + backward.get_total_flops()) / 4
    assert describe.training_flops_per_sample(preset, size) == training


def test_a_model_too_large_for_zeros_is_counted_without_storage(monkeypatch: pytest.MonkeyPatch) -> None:
    preset = gputrain_presets.load("keras-mnist-mlp")
    with_zeros = describe.describe(preset)
    monkeypatch.setattr(describe, "LARGEST_ON_CPU", 0)

    assert describe.describe(preset) == with_zeros
    assert describe.training_flops_per_sample(preset, "750") == 3_090_000


def test_describing_leaves_the_random_state_alone() -> None:
    preset = gputrain_presets.load("keras-mnist-mlp")
    before = torch.get_rng_state()

    describe.describe(preset)
    describe.training_flops_per_sample(preset, "750")

    assert torch.equal(torch.get_rng_state(), before)


def test_describing_does_not_import_pytorchs_compiler() -> None:
    code = """
import sys, gputrain_presets
from gputrain_runner.worker import describe
for name in ("lasagne-mlp", "keras-mnist-mlp"):  # Larger models are counted without storage.
    preset = gputrain_presets.load(name)
    describe.describe(preset)
    describe.training_flops_per_sample(preset, preset.model.default_size)
print("torch._dynamo" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
