"""The image classifiers: the networks of the papers and the published comparisons, and that they learn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import pytest
import torch
from msgspec import structs
from torch import nn

import gputrain_presets
from gputrain_presets import Preset
from gputrain_presets.image_models import AlexnetModel, ImageModel, WidthSize
from gputrain_presets.spec import ImagesData
from gputrain_runner import settings
from gputrain_runner.protocol import SizeFacts
from gputrain_runner.worker import data, describe, models
from gputrain_runner.worker.models import vgg
from gputrain_runner.worker.models.layers import scaled
from gputrain_runner.worker.models.resnet import Residual
from gputrain_runner.worker.trainer import Trainer
from training import losses_of

KNOWN = {
    ("alexnet", "x1"): (61_100_840, 16, 1.428),
    ("overfeat", "x1"): (145_920_872, 16, 5.603),
    ("vgg", "11"): (132_863_336, 22, 15.22),
    ("vgg", "13"): (133_047_848, 26, 22.62),
    ("vgg", "16"): (138_357_544, 32, 30.94),
    ("vgg", "19"): (143_667_240, 38, 39.26),
    ("googlenet", "x1"): (6_998_552, 116, 3.165),
    ("resnet", "18"): (11_689_512, 62, 3.628),
    ("resnet", "34"): (21_797_672, 110, 7.328),
    ("resnet", "50"): (25_557_032, 161, 8.178),
    ("resnet", "101"): (44_549_160, 314, 15.60),
    ("resnet", "152"): (60_192_808, 467, 23.03),
}
"""Parameters, tensors and forward GFLOP of one image, a multiply-add being two."""

SMALL = {"alexnet": ("x0.5", 95), "overfeat": ("x0.5", 103), "vgg": ("11", 32), "googlenet": ("x0.5", 64)}
SMALL["resnet"] = ("18", 48)
"""A size and an image side on which a few steps take a second."""


@pytest.fixture(autouse=True)
def one_thread_and_fixed_random_state() -> Iterator[None]:
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def image_model(name: str) -> ImageModel:
    model = gputrain_presets.load(name).model
    assert isinstance(model, ImageModel)
    return model


@cache
def described(name: str) -> list[SizeFacts]:
    """Every size of the preset as built."""
    return describe.describe(gputrain_presets.load(name))


def small(name: str, batch_size: int = 8) -> tuple[Preset, str]:
    """The preset with little images and 32 of them, and its size to try."""
    preset = gputrain_presets.load(name)
    size, side = SMALL[name]
    assert isinstance(preset.data, ImagesData)
    less = structs.replace(preset.data, side=side, training_samples=32, classes=4)
    model = structs.replace(image_model(name), image_side=side, default_size=size)
    return structs.replace(preset, model=model, data=less, batch_size=batch_size), size


def small_trainer(name: str) -> Trainer:
    preset, _ = small(name)
    dataset = data.load(preset.data, preset.model)
    return Trainer(preset, dataset, settings.initial(preset, "cpu"), seed=0)


@pytest.mark.parametrize("name", SMALL)
def test_the_networks_have_the_published_parameters_and_operations(name: str) -> None:
    facts = {fact.name: fact for fact in described(name)}

    known = {size: figures for (preset, size), figures in KNOWN.items() if preset == name}
    assert known
    for size, (parameters, tensors, gflop) in known.items():
        assert facts[size].parameters == parameters, size
        assert facts[size].tensors == tensors, size
        assert facts[size].forward_flops_per_sample == pytest.approx(gflop * 1e9, rel=0.001), size


@pytest.mark.parametrize("name", SMALL)
def test_sizes_grow_along_the_ladder(name: str) -> None:
    facts = described(name)

    assert [fact.parameters for fact in facts] == sorted(fact.parameters for fact in facts)
    flops = [fact.forward_flops_per_sample or 0 for fact in facts]
    assert flops == sorted(flops)
    assert flops[0] > 0


def test_a_width_scales_every_layer_but_the_scores() -> None:
    model = image_model("alexnet")
    with torch.device("meta"):
        layers = [layer for layer in models.build(model, "x0.5").modules() if hasattr(layer, "weight")]

    shapes = [layer.weight.shape[0] for layer in layers if isinstance(layer.weight, torch.Tensor)]
    assert shapes == [32, 96, 192, 128, 128, 2048, 2048, 1000]


@pytest.mark.parametrize(("units", "width", "found"), [(3, 0.5, 2), (1, 0.1, 1), (64, 2.0, 128), (5, 1.0, 5)])
def test_widths_are_rounded_halves_up_and_never_to_nothing(units: int, width: float, found: int) -> None:
    assert scaled(units, width) == found


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("side", [71, 128, 299])
def test_other_sides_of_images_fit(name: str, side: int) -> None:
    model = structs.replace(image_model(name), image_side=side, classes=7)
    with torch.device("meta"):
        network = models.build(model, model.default_size)
        outputs = network(models.example_inputs(model, 2))

    assert outputs.shape == (2, 7)


@pytest.mark.parametrize(("name", "side"), [("alexnet", 63), ("overfeat", 71), ("vgg", 32)])
def test_the_smallest_side_that_a_preset_may_name_still_fits(name: str, side: int) -> None:
    model = structs.replace(image_model(name), image_side=side)
    with torch.device("meta"):
        outputs = models.build(model, model.default_size)(models.example_inputs(model, 1))

    assert outputs.shape == (1, 1000)


def test_an_unknown_size_is_a_key_error() -> None:
    model = AlexnetModel(default_size="x1", sizes=[WidthSize(name="x1", width=1.0)])

    with pytest.raises(KeyError, match="x9"):
        models.build(model, "x9")


@pytest.mark.parametrize("name", SMALL)
def test_one_step_is_finite_and_reaches_every_parameter(name: str) -> None:
    of = small_trainer(name)
    # Blocks that start silent let no gradient through in their first step.
    steps = 2 if name == "resnet" else 1
    before = [parameter.detach().clone() for parameter in of.model.parameters()]

    found = losses_of(of, steps)

    assert found[0] == pytest.approx(math.log(1000), abs=1.0), "every class is as likely as another"
    assert all(math.isfinite(loss) for loss in found)
    for old, new in zip(before, of.model.parameters(), strict=True):
        assert torch.isfinite(new).all()
        assert not torch.equal(old, new)


@pytest.mark.parametrize("name", SMALL)
def test_the_loss_falls_on_the_presets_own_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vgg, "HIDDEN", 512)  # Of no matter for how it learns, but most of its parameters.
    found = losses_of(small_trainer(name), 20 if name == "vgg" else 14)

    assert sum(found[-5:]) / 5 < 0.7 * found[0], found


def test_a_residual_block_begins_as_its_short_cut() -> None:
    preset, size = small("resnet")
    block = next(
        module for module in models.build(preset.model, size).modules() if isinstance(module, Residual)
    )
    images = torch.randn(2, 64, 8, 8)

    assert isinstance(block.shortcut, nn.Identity)
    assert torch.equal(block(images), images.relu())


def test_only_the_3_x_3_convolution_of_a_bottleneck_halves_the_image() -> None:
    with torch.device("meta"):
        network = models.build(image_model("resnet"), "50")

    blocks = [module for module in network.modules() if isinstance(module, Residual)]
    bodies = [[layer for layer in block.body if isinstance(layer, nn.Conv2d)] for block in blocks]
    strides = [{layer.kernel_size[0]: layer.stride[0] for layer in body} for body in bodies]
    assert len(blocks) == 16
    assert [stride[1] for stride in strides] == [1] * 16
    assert [index for index, stride in enumerate(strides) if stride[3] == 2] == [3, 7, 13]
