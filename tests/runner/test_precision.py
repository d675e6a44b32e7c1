"""Precisions: which arithmetic is in force, and that what each needs is carried along."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs
from torch import nn, optim

from executions import chosen, parts_of, train
from fake_session import FakeTelemetry, recorded
from fake_worker import tiny_preset
from gputrain_presets.spec import SgdOptimizer
from gputrain_runner import settings
from gputrain_runner.book import Book
from gputrain_runner.machine import host_facts
from gputrain_runner.options import SessionOptions
from gputrain_runner.protocol import Hello, ScheduledChange, Started
from gputrain_runner.session import Session
from gputrain_runner.settings import Settings
from gputrain_runner.timeline import Device, Flags, Header, Message, SessionInfo
from gputrain_runner.training import Training
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import precision, set_memory_format
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.phases import PhaseClock
from training import losses_of, trainer
from training_presets import small

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch.set_num_threads(1)
    yield
    precision.set_flags("fp32")


@pytest.mark.parametrize("name", ["fp32", "tf32", "bf16", "fp16"])
def test_tf32_is_used_where_it_is_asked_for_alone(name: str) -> None:
    allowed = name == "tf32"
    precision.set_flags("fp32" if allowed else "tf32")
    precision.set_flags(name)
    # Whichever of PyTorch's two interfaces a user's own code or the compiler reads, it raises nothing.
    assert torch.backends.cuda.matmul.allow_tf32 is allowed
    assert torch.backends.cudnn.allow_tf32 is allowed
    assert torch.get_float32_matmul_precision() == ("high" if allowed else "highest")
    matmul: Any = torch.backends.cuda.matmul
    if hasattr(matmul, "fp32_precision"):
        assert (matmul.fp32_precision == "tf32") is allowed
        layers: Any = torch.backends.cudnn
        assert (layers.conv.fp32_precision == "tf32") is allowed
        assert (layers.rnn.fp32_precision == "tf32") is allowed
    assert precision.flags() == {
        "cuda.matmul.allow_tf32": allowed,
        "cudnn.allow_tf32": allowed,
        "cudnn.benchmark": False,
        "num_threads": 1,
    }


def test_flags_are_told_as_a_users_own_code_left_them() -> None:
    layers: Any = torch.backends.cudnn
    if not hasattr(layers, "conv"):
        pytest.skip("this PyTorch has one interface")
    precision.set_flags("fp32")
    before = layers.conv.fp32_precision
    layers.conv.fp32_precision = "tf32"
    found = precision.flags()
    layers.conv.fp32_precision = before
    assert found["cudnn.conv.fp32_precision"] == "tf32"
    assert found["cuda.matmul.fp32_precision"] == "ieee"


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_training_with_fewer_bits_goes_much_the_same_way(name: str) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=SgdOptimizer(lr=0.1, momentum=0.9))
    full = train(trainer(preset), [], each=60)
    found = train(trainer(preset), [("precision", name), ("precision", "fp32")], each=20)
    assert found[:20] == full[:20]
    assert found[20:41] != full[20:41]
    assert found[20:60] == pytest.approx(full[20:], rel=0.05)
    assert found[-1] < found[0]


def overflowing(count: int, scale: float) -> tuple[EagerExecution, torch.Tensor]:
    """An execution in fp16 whose gradients exceed it from some loss scale on."""
    model = nn.Linear(4, 4, bias=False)
    nn.init.ones_(model.weight)
    made = EagerExecution(
        parts_of(model, optim.SGD(model.parameters(), lr=0.1)), chosen(precision="fp16", batch_size=count)
    )
    made.load_state({"scaler": {**scaler_state(made), "scale": scale}})
    return made, model.weight


def scaler_state(of: EagerExecution) -> dict[str, Any]:
    state: dict[str, Any] = of.state()["scaler"]
    return state


def test_a_step_whose_gradients_overflow_is_left_out() -> None:
    execution, weight = overflowing(2, scale=2.0**40)
    before = weight.detach().clone()
    inputs, targets, clock = torch.ones(2, 4), torch.zeros(2, 4), PhaseClock(CPU)
    loss = execution.run(inputs, targets, clock)
    assert loss.item() == 16.0  # What is told is not scaled.
    assert torch.equal(weight, before)
    assert scaler_state(execution)["scale"] == 2.0**39
    execution.load_state({"scaler": {**scaler_state(execution), "scale": 8.0}})
    execution.run(inputs, targets, clock)
    # The mean of (4 x weight)² over 8 outputs: its derivative by a weight is 2 x 4 x 2 / 8.
    torch.testing.assert_close(weight.detach(), before - 0.1 * 2.0)
    assert weight.grad is None


def test_the_loss_scale_goes_along() -> None:
    of = trainer(small("lasagne-mlp"))
    assert changes.make(of, "precision", "fp16").error is None
    assert of._running.state()["scaler"]["scale"] == 2.0**16  # type: ignore[index]
    of._running.load_state({"scaler": {**of._running.state()["scaler"], "scale": 512.0}})  # type: ignore[dict-item]
    of.reconfigure(of.settings.with_value("device", "cpu:0"), of.save())
    losses_of(of, 2)
    assert of.save().execution["scaler"]["scale"] == 512.0
    # And back, where a change fails.
    assert changes.make(of, "batch_size", 4000).error is not None
    saved = of.save()
    of.go_back(saved)
    assert of.save().execution["scaler"]["scale"] == 512.0


def test_models_at_once_in_fp16_are_each_as_alone() -> None:
    together = trainer(small("lasagne-mlp"))
    for setting, to in (("precision", "fp16"), ("models_at_once", 3)):
        together.reconfigure(together.settings.with_value(setting, to), together.save())
    # Models at once begin beside the one there is: the first is that of the trainer's seed.
    losses_of(together, 30)
    alone = trainer(small("lasagne-mlp"))
    alone.reconfigure(alone.settings.with_value("precision", "fp16"), alone.save())
    losses_of(alone, 30)
    for stacked, single in zip(together.model.parameters(), alone.model.parameters(), strict=True):
        torch.testing.assert_close(stacked[0], single, atol=2e-3, rtol=0)


@pytest.mark.parametrize("name", ["fp32", "bf16", "fp16"])
def test_inference_changes_nothing_and_drops_nothing_out(name: str) -> None:
    of = trainer(small("keras-mnist-mlp", training_samples=256))
    losses_of(of, 2)
    for setting, to in (("precision", name), ("passes", "forward")):
        of.reconfigure(of.settings.with_value(setting, to), of.save())
    before = {key: value.clone() for key, value in of.model.state_dict().items()}
    moments = of.save().optimizer["state"]
    saved = of.save()
    first = losses_of(of, 1)
    of.model.train()  # As a validation pass may find it.
    of.go_back(saved)
    assert losses_of(of, 1) == first
    for key, value in of.model.state_dict().items():
        assert torch.equal(value, before[key])
    for index, state in of.save().optimizer["state"].items():
        assert all(torch.equal(state[key], value) for key, value in moments[index].items())
    assert all(parameter.grad is None for parameter in of.model.parameters())


def test_what_an_optimizer_keeps_lies_as_its_weights_do() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 6 * 6, 4))
    weight = next(model.parameters())
    optimizer = optim.Adam(model.parameters())
    execution = EagerExecution(parts_of(model, optimizer), chosen(memory_format="channels_last"))
    inputs, targets, clock = torch.rand(2, 3, 8, 8), torch.zeros(2, 4), PhaseClock(CPU)
    execution.run(inputs, targets, clock)
    moment = optimizer.state[weight]["exp_avg"].clone()
    for name, layout in (
        ("channels_last", torch.channels_last),
        ("channels_first", torch.contiguous_format),
    ):
        set_memory_format(model, optimizer, name)
        assert weight.is_contiguous(memory_format=layout)
        assert all(
            value.is_contiguous(memory_format=layout)
            for value in optimizer.state[weight].values()
            if value.dim() == 4
        )
        assert torch.equal(optimizer.state[weight]["exp_avg"], moment)
        execution.run(inputs, targets, clock)
        moment = optimizer.state[weight]["exp_avg"].clone()


def test_the_switches_in_force_can_be_read_from_the_recording(tmp_path: Path) -> None:
    recording = tmp_path / "switches.json"
    scheduled = [
        ScheduledChange(step=20, setting="threads", to=2),
        ScheduledChange(step=40, setting="precision", to="bf16"),
    ]
    session = Session(
        SessionOptions(
            preset=small("lasagne-mlp"),
            device="cpu",
            overrides=[("threads", "1")],
            steps=60,
            scheduled=scheduled,
            record=recording,
        ),
        telemetry=FakeTelemetry(),
    )
    session.start()
    assert session.wait(60)
    session.stop()
    document = recorded(recording)
    at_start = document["session"]["flags"]
    assert at_start["num_threads"] == 1
    assert at_start["cuda.matmul.allow_tf32"] is False
    threads, bits = (entry for entry in document["timeline"] if entry["kind"] == "change")
    assert threads["flags"] == {**at_start, "num_threads": 2}
    assert bits["flags"] is None  # Autocast is no switch: it is in the settings.
    assert bits["preparation_ms"] is None


def test_another_worker_says_where_its_switches_differ() -> None:
    options = SessionOptions(preset=tiny_preset(), device="cpu")
    first = settings.initial(options.preset, "cpu")
    header = Header(
        session=SessionInfo(id="1", started_at="2026-01-01T00:00:00Z", preset={}, settings=first, command=[]),
        host=host_facts(),
    )
    book = Book(header, lambda: 1.0)
    training = Training(options, first, "cpu", book, 0.0, FakeTelemetry().latest)
    hello = Hello(torch="2.99", cuda=None, cudnn=None, devices=[Device(device="cpu")], threads=1)
    for threads in (1, 1, 2):
        assert training.begin(hello) is not None
        training.take(started(first, {"cudnn.benchmark": False, "num_threads": threads}))
        training.die("killed")
        training.begin_again()
    assert book.header.session.flags == {"cudnn.benchmark": False, "num_threads": 1}
    entries, _ = book.read(0)
    told = [entry.text for entry in entries if isinstance(entry, Message) and entry.level == "info"]
    assert told == ["PyTorch's switches in this worker: cudnn.benchmark False, num_threads 2"]


def started(begun: Settings, flags: Flags) -> Started:
    return Started(
        at=0.5,
        settings=begun,
        data="synthetic",
        synthetic=True,
        parameters=1,
        training_samples=10,
        validation_samples=0,
        flags=flags,
    )
