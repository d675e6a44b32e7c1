"""Captured steps train as eager ones do, and leave and take nothing unseen; on a CPU by a stand-in."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch
from msgspec import structs
from torch import nn, optim

from executions import FakeRecorder, as_graph, chosen, parts_of, train
from gputrain_presets.spec import AdamOptimizer, NadamOptimizer
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import Execution, ExecutionError
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.execution.graph import MOST_GRAPHS, GraphExecution
from gputrain_runner.worker.execution.practice import practice
from gputrain_runner.worker.execution.step_counters import count_on_device
from gputrain_runner.worker.phases import PhaseClock
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def counting_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch refuses to let Adam count on a CPU's device side, which nobody but these tests needs."""
    for name in ("adam", "nadam"):
        module = importlib.import_module(f"torch.optim.{name}")
        monkeypatch.setattr(module, "_get_capturable_supported_devices", lambda **_: ["cpu"])


@pytest.mark.parametrize("name", ["lasagne-mlp", "keras-mnist-mlp"])
def test_a_replayed_step_is_the_eager_one(name: str, counting_on_cpu: None) -> None:
    # keras-mnist-mlp has dropout, Nadam, and epochs that end with smaller batches: of 16, 88 and 56 here.
    turns: list[tuple[str, Any]] = [("batch_size", 100), ("batch_size", 64)]
    eager = trainer(small(name))
    count_on_device(eager.optimizer)  # In float32 there: the last digits are others than on the host.
    expected = train(eager, turns, each=40)
    replayed, recorder = trainer(small(name)), FakeRecorder()
    as_graph(replayed, recorder)
    assert train(replayed, turns, each=40) == expected
    assert len(recorder.graphs) == 2  # One of each size, and of no smaller one.
    smaller = 3 if name == "keras-mnist-mlp" else 0
    assert sum(graph.replays for graph in recorder.graphs) == 122 - 2 - smaller


def test_statistics_and_optimizer_are_as_before_a_capture() -> None:
    torch.manual_seed(0)
    counted = nn.BatchNorm1d(8)
    model = nn.Sequential(nn.Linear(4, 8), counted, nn.Dropout(0.5), nn.Linear(8, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    execution = GraphExecution(parts_of(model, optimizer), chosen(), FakeRecorder())
    twin = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 2))
    twin.load_state_dict(model.state_dict())
    twins = EagerExecution(parts_of(twin, optim.SGD(twin.parameters(), lr=0.1, momentum=0.9)), chosen())
    clock = PhaseClock(CPU)
    for step in range(3):
        inputs, targets = torch.randn(16, 4), torch.randn(16, 2)
        rng = torch.get_rng_state()
        expected = twins.run(inputs, targets, clock)
        torch.set_rng_state(rng)
        assert torch.equal(execution.run(inputs, targets, clock), expected), step
    assert counted.num_batches_tracked is not None
    assert counted.num_batches_tracked.item() == 3
    for name, value in twin.state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name


def test_practice_undoes_what_fails_too() -> None:
    model = nn.Linear(3, 1)
    optimizer = optim.Adam(model.parameters())
    execution = EagerExecution(parts_of(model, optimizer), chosen())
    clock = PhaseClock(CPU)
    execution.run(torch.ones(2, 3), torch.ones(2, 1), clock)
    weight, moment = model.weight, optimizer.state[model.weight]["exp_avg"]
    before, moment_before, rng = weight.detach().clone(), moment.clone(), torch.get_rng_state()

    def half_a_step() -> None:
        with practice(execution.parts, CPU):
            execution.run(torch.rand(2, 3), torch.ones(2, 1), clock)
            assert not torch.equal(weight, before)
            raise RuntimeError("out of it")

    with pytest.raises(RuntimeError, match="out of it"):
        half_a_step()
    assert torch.equal(model.weight, before)
    assert optimizer.state[model.weight]["exp_avg"] is moment
    assert torch.equal(moment, moment_before)
    assert torch.equal(torch.get_rng_state(), rng)
    assert weight.grad is None


@pytest.mark.parametrize("optimizer", [AdamOptimizer(), NadamOptimizer()])
def test_an_optimizer_counts_on_the_device_only_while_graphs_run(
    optimizer: Any, counting_on_cpu: None
) -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=optimizer)
    stays, turns = trainer(preset), trainer(preset)
    expected = losses_of(stays, 40)
    found = losses_of(turns, 20)
    as_graph(turns, FakeRecorder())
    assert turns.optimizer.param_groups[0]["capturable"]
    found += losses_of(turns, 10)
    saved = turns.save()
    turns._running.close()
    assert not turns.optimizer.param_groups[0]["capturable"]
    turns._execution = None
    # A state that was saved while graphs ran brings no trace of that along.
    turns.go_back(saved)
    assert not turns.optimizer.param_groups[0]["capturable"]
    counters = [state["step"] for state in turns.optimizer.state.values()]
    assert {counter.item() for counter in counters} == {30.0}
    found += losses_of(turns, 10)
    assert found == pytest.approx(expected, rel=1e-5)


def test_an_optimizer_that_counts_on_the_host_alone_cannot_be_captured() -> None:
    model = nn.Linear(3, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    execution = GraphExecution(parts_of(model, optimizer), chosen(batch_size=2), FakeRecorder())
    execution.run(torch.ones(2, 3), torch.ones(2, 1), PhaseClock(CPU))
    # As Adagrad's step on a GPU: beside the device, where a graph does not see it change.
    optimizer.state[model.weight]["step"] = torch.zeros((), device="meta")
    execution.expect(4)
    reason = "execution graph: SGD keeps 'step' on the host, and a graph would repeat one step with it"
    with pytest.raises(ExecutionError, match=reason):
        execution.run(torch.ones(4, 3), torch.ones(4, 1), PhaseClock(CPU))


def test_few_sizes_stay_captured_and_all_are_let_go_of() -> None:
    of = trainer(small("lasagne-mlp"))
    recorder = FakeRecorder()
    execution = as_graph(of, recorder)
    for size in (16, 32, 48, 64, 80):
        of.reconfigure(of.settings.with_value("batch_size", size), of.save())
        losses_of(of, 3)
    assert [graph.held for graph in recorder.graphs] == [False, *[True] * MOST_GRAPHS]
    of.reconfigure(of.settings.with_value("batch_size", 32), of.save())
    losses_of(of, 3)
    assert len(recorder.graphs) == 5  # It still held that one.
    closed = recorder.closed
    execution.close()
    assert recorder.closed == closed + 1
    assert not any(graph.held for graph in recorder.graphs)


def test_capturing_is_told_once_and_inference_changes_nothing() -> None:
    of = trainer(small("keras-mnist-mlp"))
    losses_of(of, 3)
    of.reconfigure(of.settings.with_value("passes", "forward"), of.save())
    recorder = FakeRecorder()
    as_graph(of, recorder)
    before = {name: value.clone() for name, value in of.model.state_dict().items()}
    assert of.preparation_ms() is None
    first = losses_of(of, 1)
    assert (of.preparation_ms() or 0.0) > 0.0
    assert of.preparation_ms() is None
    of.order.taken = 0
    assert losses_of(of, 3)[0] != first[0]  # Another batch: replayed on what it is given.
    assert recorder.graphs[0].replays == 3
    for name, value in of.model.state_dict().items():
        assert torch.equal(before[name], value)


def test_a_whole_graph_counts_as_forward() -> None:
    of = trainer(small("lasagne-mlp"))
    as_graph(of, FakeRecorder())
    losses_of(of, 1)
    of.clock.take(1)
    losses_of(of, 20)
    step_ms, phases, _ = of.clock.take(20)
    assert step_ms is not None
    assert phases is not None
    assert (phases["backward"].host_ms, phases["optimizer"].host_ms) == (0.0, 0.0)
    assert (phases["forward"].host_ms or 0.0) > step_ms.mean / 2
    total = sum(phase.host_ms or 0.0 for phase in phases.values())
    assert total == pytest.approx(step_ms.mean, rel=1e-9)


def test_a_capture_that_fails_leads_back(monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, disturbed = trainer(small("lasagne-mlp")), trainer(small("lasagne-mlp"))
    expected = losses_of(undisturbed, 30)
    found = losses_of(disturbed, 20)

    def build(self: Trainer, settings: Any) -> Execution:
        recorder = FakeRecorder(fails=ExecutionError("execution graph: this step waits for the device"))
        parts = parts_of(self.model, self.optimizer)
        if settings.batch_size == 128:
            return GraphExecution(parts, settings, recorder)
        return EagerExecution(parts, settings)

    monkeypatch.setattr(Trainer, "_build_execution", build)
    monkeypatch.setattr(Trainer, "_changed", lambda *_: {"batch_size", "execution"})
    outcome = changes.make(disturbed, "batch_size", 128)
    assert outcome.error == "execution graph: this step waits for the device"
    assert found + losses_of(disturbed, 10) == expected
