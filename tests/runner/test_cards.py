"""The file of cards, and forecasts against published timings."""

from __future__ import annotations

import itertools
from statistics import median

import pytest

import gputrain_presets
from gputrain_runner.cards import CardError, Host, advice, cards, find, forecast, of_device, roofline
from gputrain_runner.protocol import Operation
from gputrain_runner.worker import work_count

PUBLISHED_MS = {
    ("alexnet", "x1"): {"GTX 1080": 20.74, "Titan X Maxwell": 21.85, "Titan X Pascal": 14.56},
    ("googlenet", "x1"): {"GTX 1080": 56.16, "Titan X Maxwell": 61.98, "Titan X Pascal": 39.14},
    ("vgg", "16"): {"GTX 1080": 182.79, "Titan X Maxwell": 192.78, "Titan X Pascal": 128.62},
    ("vgg", "19"): {"GTX 1080": 210.39, "Titan X Maxwell": 225.14, "Titan X Pascal": 147.32},
    ("resnet", "50"): {"GTX 1080": 149.82, "Titan X Maxwell": 159.62, "Titan X Pascal": 103.58},
    ("resnet", "101"): {"GTX 1080": 225.80, "Titan X Maxwell": 247.49, "Titan X Pascal": 156.44},
    ("resnet", "152"): {"GTX 1080": 314.30, "Titan X Maxwell": 345.45, "Titan X Pascal": 217.91},
}
"""Forward and backward, batch 16 at 224², Torch with cuDNN 5: github.com/jcjohnson/cnn-benchmarks."""


@pytest.fixture(scope="module")
def lasagne() -> list[Operation]:
    return work_count.count(gputrain_presets.load("lasagne-mlp"), "x1", 1024, "training").operations


def test_every_card_is_plausible_and_found_by_its_names() -> None:
    for card in cards():
        assert find(card.name) is card
        assert all(find(alias) is card for alias in card.aliases)
        assert 1 < card.fp32_tflops < 200 and 50 < card.bandwidth_gb_per_s < 20_000
        assert card.source.startswith("NVIDIA")
        for precision in ("tf32", "bf16", "fp16"):
            assert card.product_flops_per_s(precision) >= card.fp32_tflops * 1e12


def test_devices_are_found_by_the_names_that_drivers_give() -> None:
    assert of_device("NVIDIA GeForce GTX TITAN X") is find("Titan X Maxwell")
    assert of_device("NVIDIA TITAN X (Pascal)") is find("Titan X Pascal")
    assert of_device("Tesla K40c") is find("K40")
    assert of_device("NVIDIA H200") is find("H200")
    assert of_device("NVIDIA GeForce RTX 3080 Laptop GPU") is None
    assert of_device("AMD EPYC") is None and of_device(None) is None


def test_an_unknown_or_ambiguous_card_is_told_in_one_line() -> None:
    with pytest.raises(CardError, match="did you mean 'GeForce GTX 1080'"):
        find("GTX 1800")
    with pytest.raises(CardError, match=r"may be any of: .*Maxwell.*, Titan X"):
        find("Titan X")
    with pytest.raises(CardError, match="known are"):
        find("")


def test_work_is_counted_as_published(lasagne: list[Operation]) -> None:
    """95 kFLOP a sample forward and backward; some 30 operations in a step."""
    flops = sum(operation.flops * operation.count for operation in lasagne)
    assert flops / 1024 == pytest.approx(95_000, rel=0.01)
    assert 25 <= sum(operation.count for operation in lasagne) <= 40
    forward = work_count.count(gputrain_presets.load("lasagne-mlp"), "x1", 1024, "forward")
    assert sum(operation.flops * operation.count for operation in forward.operations) == 1024 * 2 * 16_868
    assert forward.batch_bytes == 1024 * (75 + 10) * 4


def test_recurrent_layers_count_a_kernel_for_each_time_step() -> None:
    counted = work_count.count(gputrain_presets.load("hier-bilstm"), "128", 4, "forward").operations
    recurrent = [each for each in counted if each.name == "mkldnn_rnn_layer"]
    assert sum(each.count for each in recurrent) == 4
    assert all(each.kernels >= 10 and each.flops > 0 for each in recurrent)


def test_published_ratios_between_cards_come_out() -> None:
    errors = []
    for (name, size), times_ms in PUBLISHED_MS.items():
        preset = gputrain_presets.load(name)
        operations = work_count.count(preset, size, 16, "training").operations
        modelled = {card: roofline.device_ms(operations, find(card)) for card in times_ms}
        for one, other in itertools.combinations(times_ms, 2):
            published = times_ms[one] / times_ms[other]
            errors.append(abs(modelled[one] / modelled[other] / published - 1))
    assert len(errors) == 21
    assert median(errors) < 0.1
    assert max(errors) < 0.25


def test_a_faster_card_gives_a_tiny_network_nothing(lasagne: list[Operation]) -> None:
    """The public question: from a GTX 750 Ti to a 780 Ti, with batches gathered on the host."""
    host = Host(data_ms=0.15, batch_bytes=1024 * 85 * 4)
    before, after = (forecast(lasagne, find(name), host) for name in ("750 Ti", "780 Ti"))
    gain = advice.between(before, after)
    assert gain[1] == pytest.approx(1.0, abs=0.05)
    assert after.limited_by == "host"
    told = advice.sentence(after, gain, before.card.name)
    assert "the host cannot feed it" in told and "at most ×1 " in told
    graph = advice.graph_gain(after)
    assert graph is not None and graph > 1.5


def test_what_is_measured_on_the_host_replaces_what_is_assumed(lasagne: list[Operation]) -> None:
    card = find("H200")
    slow = forecast(lasagne, card, Host(dispatch_ms=3.0))
    assert slow.dispatch_ms == 3.0 and slow.step_ms[1] == pytest.approx(3.0)
    fed = forecast(lasagne, card, Host(data_ms=5.0, dispatch_ms=0.5))
    assert fed.limited_by == "input"
    ahead = forecast(lasagne, card, Host(data_ms=0.4, dispatch_ms=0.5), data_path="prefetch")
    assert ahead.step_ms[1] == pytest.approx(0.5)
    graph = forecast(lasagne, card, Host(data_ms=0.0, dispatch_ms=3.0), execution="graph")
    assert graph.step_ms[1] < 0.2


def test_tensor_cores_help_only_where_the_card_has_them() -> None:
    product = [Operation(name="mm", flops=10**12, moved_bytes=10**6, kernels=1, count=1)]
    old, new = find("GTX 1080"), find("H200")
    assert roofline.device_ms(product, old, "bf16") == roofline.device_ms(product, old, "fp32")
    assert roofline.device_ms(product, new, "bf16") < 0.2 * roofline.device_ms(product, new, "fp32")
