"""A model in training: what a change keeps, what it makes anew, and the way back from a failed one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from msgspec import structs
from torch import Tensor

from gputrain_presets import spec
from gputrain_runner.worker import changes, memory_limit
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.sample_order import SampleOrder
from gputrain_runner.worker.validation import ValidationPass
from training import OPTIMIZERS, check_moving_keeps_the_curve, losses_of, trainer
from training_presets import small


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_moving_to_another_device_keeps_the_loss_curve(optimizer: str) -> None:
    # "cpu:0" is another name of the CPU, so it takes the way of any other device.
    check_moving_keeps_the_curve("cpu", "cpu:0", optimizer, tolerance=0.0)


def test_a_batch_change_keeps_the_model_and_the_place_in_the_data() -> None:
    of = trainer(small("lasagne-mlp"))
    losses_of(of, 10)
    before = [parameter.detach().clone() for parameter in of.model.parameters()]
    taken = of.order.taken
    of.reconfigure(of.settings.with_value("batch_size", 128), of.save())
    for old, new in zip(before, of.model.parameters(), strict=True):
        assert torch.equal(old, new)
    assert of.order.taken == taken == 640
    assert of.step() == 128


def test_a_model_size_change_builds_a_new_model_of_that_size() -> None:
    of = trainer(small("keras-mnist-mlp"))
    losses_of(of, 3)
    outcome = changes.make(of, "model_size", "100")
    assert outcome == changes.Outcome(None, 64)
    assert of.parameters == 784 * 100 + 100 + 100 * 150 + 150 + 150 * 50 + 50 + 50 * 50 + 50 + 50 * 10 + 10
    assert of.settings.model_size == "100"


@pytest.mark.parametrize(
    ("setting", "to", "why"),
    [
        ("batch_size", 2001, "larger than the data, which has 2,000 training samples"),
        ("device", "cuda:7", "there is no such device here"),
        ("model_size", "x9", "no such size; there are 1x15, x0.25"),
    ],
)
def test_a_change_that_cannot_work_is_refused_with_its_reason(setting: str, to: Any, why: str) -> None:
    of = trainer(small("lasagne-mlp"))
    before = of.settings
    outcome = changes.make(of, setting, to)
    assert outcome.error is not None
    assert why in outcome.error
    assert of.settings == before


@pytest.mark.parametrize("fails_in", ["loss", "optimizer"])
@pytest.mark.parametrize(("setting", "to"), [("batch_size", 256), ("model_size", "x2")])
def test_after_a_failed_change_training_goes_on_as_if_nothing_had_been(
    monkeypatch: pytest.MonkeyPatch, setting: str, to: Any, fails_in: str
) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=OPTIMIZERS["nadam"])
    undisturbed, disturbed = trainer(preset), trainer(preset)
    expected = losses_of(undisturbed, 40)
    found = losses_of(disturbed, 25)

    def out_of_memory(*_: Any) -> Tensor:
        raise torch.OutOfMemoryError(
            "CUDA out of memory. Tried to allocate 160.00 GiB. GPU 0 has a total "
            "capacity of 139.72 GiB of which 130.10 GiB is free."
        )

    with monkeypatch.context() as patched:
        if fails_in == "loss":
            patched.setattr(EagerExecution, "forward", out_of_memory)
        else:
            real_step = torch.optim.NAdam.step

            def half_a_step(optimizer: torch.optim.NAdam, *_: Any) -> None:
                real_step(optimizer)  # Some weights are changed already when the memory runs out.
                out_of_memory()

            patched.setattr(torch.optim.NAdam, "step", half_a_step)
        outcome = changes.make(disturbed, setting, to)
    assert outcome.error == "out of memory: needs another 160.00 GiB, 130.10 GiB are free"
    assert disturbed.settings == undisturbed.settings
    assert found + losses_of(disturbed, 15) == expected


def test_running_out_of_the_hosts_memory_is_an_error_and_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    # Large enough that what earlier tests have freed within this process does not hold it.
    of = trainer(small("lasagne-mlp", training_samples=400_000))
    first = losses_of(of, 5)
    monkeypatch.setattr(memory_limit, "available_memory_bytes", lambda: 20_000_000)
    outcome = changes.make(of, "batch_size", 400_000)
    assert outcome.error is not None
    assert outcome.error.startswith("out of memory: this host cannot give another")
    assert of.settings.batch_size == 64
    assert losses_of(of, 5)[-1] < first[0] * 2


def test_a_lost_way_back_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    of = trainer(small("lasagne-mlp"))

    def broken(*_: Any) -> None:
        raise RuntimeError("cannot build")

    monkeypatch.setattr(of, "_build_model", broken)
    with pytest.raises(changes.WorkerBrokenError, match="cannot build; the way back failed too"):
        changes.make(of, "model_size", "x2")


def test_every_sample_comes_once_an_epoch_in_a_new_order() -> None:
    order = SampleOrder(150, 64, drop_last=False, seed=1)
    orders = []
    for _ in range(2):
        sizes = []
        while not order.exhausted:
            sizes.append(order.advance())
        assert sizes == [64, 64, 22]
        assert sorted(order.order.tolist()) == list(range(150))
        orders.append(order.order.tolist())
        order.begin_epoch()
    assert orders[0] != orders[1]
    assert order.epochs == 2


def test_drop_last_skips_the_incomplete_batch() -> None:
    of = trainer(small("lasagne-mlp", training_samples=200))
    assert of.preset.drop_last
    losses_of(of, 3)
    assert of.order.exhausted


def test_validation_is_the_mean_over_the_whole_set_with_dropout_off() -> None:
    of = trainer(small("keras-mnist-mlp", validation_samples=300))
    assert of.dataset.validation is not None
    losses_of(of, 30)
    validation = ValidationPass(of.dataset.validation, epoch=1)
    results = [validation.advance(of) for _ in range(5)]  # 4 batches of 64 and one of 44
    assert results[:4] == [None] * 4
    found = results[4]
    assert found is not None
    of.model.eval()
    with torch.no_grad():
        inputs, labels = of.dataset.validation.gather(slice(None))
        outputs = of.model(inputs)
    assert found.samples == 300
    assert found.loss == pytest.approx(torch.nn.functional.cross_entropy(outputs, labels).item(), rel=1e-5)
    assert found.accuracy == pytest.approx((outputs.argmax(1) == labels).float().mean().item())
    assert isinstance(of.preset.loss, spec.CrossEntropyLoss)


def test_phases_and_other_are_the_whole_step() -> None:
    of = trainer(small("lasagne-mlp"))
    of.clock.go_on()
    losses_of(of, 30)
    assert of.clock.active_s > 0
    step_ms, phases, dispatch_ms = of.clock.take(30)
    assert step_ms is not None
    assert phases is not None
    total = sum(phase.host_ms or 0.0 for phase in phases.values())
    assert total == pytest.approx(step_ms.mean, rel=1e-9)
    assert list(phases) == ["data", "h2d", "forward", "backward", "optimizer", "other"]
    assert all(phase.device_ms is None for phase in phases.values())
    assert dispatch_ms is None
    assert step_ms.p50 <= step_ms.p95
