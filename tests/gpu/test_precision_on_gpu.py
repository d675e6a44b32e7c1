"""Precisions on a real GPU: every preset learns in them, and each does the arithmetic that it names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
import torch
from msgspec import structs
from torch.nn import functional

import gputrain_presets
from gputrain_presets import Preset
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import precision
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

Note = Callable[[str, float, str], None]
STEPS = 40
IMAGES = {"alexnet", "overfeat", "vgg", "googlenet", "resnet"}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    precision.set_flags("fp32")


def few_samples(name: str) -> Preset:
    """A preset on so few samples that it sees them again within a few steps."""
    count, batch = (256, 32) if name in IMAGES else (1024, 64)
    return structs.replace(small(name, training_samples=count, validation_samples=0), batch_size=batch)


@pytest.fixture
def tensor_cores() -> None:
    if torch.cuda.get_device_capability(0) < (8, 0):
        pytest.skip("this GPU has no TF32 and no bfloat16")


def let_go(of: Trainer) -> None:
    of.close()
    of.model = torch.nn.Module()
    torch.cuda.empty_cache()


@pytest.mark.parametrize("bits", ["fp32", "bf16"])
@pytest.mark.parametrize("name", gputrain_presets.names())
def test_every_preset_learns(name: str, bits: str, tensor_cores: None, note: Note) -> None:
    of = trainer(few_samples(name), "cuda:0")
    of.reconfigure(of.settings.with_value("precision", bits), of.save())
    losses = losses_of(of, STEPS)
    assert all(math.isfinite(loss) for loss in losses)
    assert sum(losses[-8:]) < sum(losses[:8])
    torch.cuda.synchronize()
    of.clock.take(STEPS)
    losses_of(of, 10)
    torch.cuda.synchronize()
    step_ms, _, _ = of.clock.take(10)
    assert step_ms is not None
    note(f"{name}, batch {of.settings.batch_size}, {bits}", step_ms.p50, "ms/step")
    let_go(of)


@pytest.mark.parametrize("name", ["lasagne-mlp", "resnet"])
def test_fp16_learns_and_its_loss_scale_settles(name: str) -> None:
    of = trainer(few_samples(name), "cuda:0")
    of.reconfigure(of.settings.with_value("precision", "fp16"), of.save())
    losses = losses_of(of, STEPS)
    assert math.isfinite(losses[-1])
    assert sum(losses[-8:]) < sum(losses[:8])
    scale = of.save().execution["scaler"]["scale"]
    assert 1.0 <= scale <= 2.0**16
    assert changes.make(of, "device", "cpu").error is None
    assert of.save().execution["scaler"]["scale"] == pytest.approx(scale, rel=0.75)
    let_go(of)


def test_an_overflow_in_fp16_leaves_the_step_out() -> None:
    of = trainer(few_samples("lasagne-mlp"), "cuda:0")
    of.reconfigure(of.settings.with_value("precision", "fp16"), of.save())
    losses_of(of, 1)
    saved = of.save()
    execution: dict[str, object] = {"scaler": {**saved.execution["scaler"], "scale": 2.0**60}}
    of._running.load_state(execution)
    before = [parameter.detach().clone() for parameter in of.model.parameters()]
    losses_of(of, 1)
    assert all(torch.equal(a, b) for a, b in zip(before, of.model.parameters(), strict=True))
    assert of.save().execution["scaler"]["scale"] == 2.0**59


def test_float32_is_ieee_unless_tf32_is_asked_for(tensor_cores: None, note: Note) -> None:
    torch.manual_seed(0)
    left, right = (torch.randn(1024, 1024, dtype=torch.float64, device="cuda") for _ in range(2))
    images = torch.randn(8, 64, 32, 32, dtype=torch.float64, device="cuda")
    filters = torch.randn(64, 64, 3, 3, dtype=torch.float64, device="cuda")
    errors: dict[str, tuple[float, float]] = {}
    for bits in ("fp32", "tf32"):
        precision.set_flags(bits)
        product = (left.float() @ right.float()).double() - left @ right
        convolved = functional.conv2d(images.float(), filters.float()).double() - functional.conv2d(
            images, filters
        )
        errors[bits] = product.abs().max().item(), convolved.abs().max().item()
        note(f"{bits}: largest error of a product of 1024 x 1024", errors[bits][0], "")
        note("  of a convolution", errors[bits][1], "")
    for kind in (0, 1):
        assert errors["fp32"][kind] < 2e-3
        assert errors["tf32"][kind] > 5 * errors["fp32"][kind]


def test_tf32_goes_with_torch_compile(tensor_cores: None) -> None:
    of = trainer(few_samples("keras-mnist-mlp"), "cuda:0")
    assert changes.make(of, "precision", "tf32").error is None
    assert precision.flags()["cuda.matmul.allow_tf32"] is True
    outcome = changes.make(of, "execution", "compiled")
    assert outcome.error is None, outcome.error
    assert all(math.isfinite(loss) for loss in losses_of(of, 5))
    let_go(of)
