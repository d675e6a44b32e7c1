"""Executions on a real GPU: graphs and compiled steps against eager ones, what they cost and save."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
import torch
from msgspec import structs
from torch import Tensor, nn, optim

from executions import chosen, parts_of, train
from fake_worker import until
from gputrain_presets.spec import AdamOptimizer
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import Failed, Finished, Report, Start
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import ExecutionError
from gputrain_runner.worker.execution.graph import GraphExecution
from gputrain_runner.worker.execution.step_counters import count_on_device
from gputrain_runner.worker.phases import PhaseClock
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

Note = Callable[[str, float, str], None]
Made = Callable[..., Trainer]
GPU = torch.device("cuda:0")
MLPS = ["lasagne-mlp", "keras-mnist-mlp"]


@pytest.fixture(autouse=True)
def same_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)


@pytest.fixture
def made() -> Iterator[Made]:
    """Trainers on the GPU with these settings, before their first step; closed at the end."""
    there: list[Trainer] = []

    def make(name: str, batch_size: int = 64, samples: int = 2000, **changed: Any) -> Trainer:
        of = trainer(structs.replace(small(name, samples, 0), batch_size=batch_size), "cuda:0")
        there.append(of)
        of.reconfigure(structs.replace(of.settings, **changed), of.save())
        torch.manual_seed(0)
        return of

    yield make
    for of in there:
        of.close()


def steps_per_s(of: Trainer, steps: int = 300) -> float:
    """The median of three rounds."""
    rates = []
    losses_of(of, 20)
    for _ in range(3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(steps):
            if of.order.exhausted:
                of.begin_epoch()
            of.step()
        torch.cuda.synchronize()
        rates.append(steps / (time.perf_counter() - began))
    return sorted(rates)[1]


@pytest.mark.parametrize("path", ["host", "prefetch"])
@pytest.mark.parametrize("name", MLPS)
def test_a_graph_has_the_losses_of_eager_steps(name: str, path: str, made: Made) -> None:
    turns: list[tuple[str, Any]] = [("batch_size", 100), ("batch_size", 64)]
    eager = made(name, data_path=path)
    count_on_device(eager.optimizer)  # As for graphs: in float32 the last digits are others.
    expected = train(eager, turns, each=40)
    found = train(made(name, data_path=path, execution="graph"), turns, each=40)
    assert found == pytest.approx(expected, rel=1e-4)
    assert expected[-1] < expected[0]


@pytest.mark.parametrize("name", MLPS)
def test_how_much_faster_a_graph_is(name: str, made: Made, note: Note) -> None:
    for size in (64, 1024):
        eager = made(name, size, samples=16 * size, data_path="resident")
        replayed = made(name, size, samples=16 * size, data_path="resident", execution="graph")
        losses_of(replayed, 1)
        capture_ms = replayed.preparation_ms()
        assert capture_ms is not None
        rates = steps_per_s(eager), steps_per_s(replayed)
        note(f"{name}, batch {size}, resident, eager", rates[0], "steps/s")
        note("  graph", rates[1], "steps/s")
        note("  graph / eager", rates[1] / rates[0], "x")
        note("  capture", capture_ms, "ms")
        assert rates[1] > rates[0]


def test_statistics_are_the_same_before_and_after_a_capture() -> None:
    preset = structs.replace(small("resnet", training_samples=32, validation_samples=0), batch_size=8)
    eager, replayed = trainer(preset, "cuda:0"), trainer(preset, "cuda:0")
    for of, execution in ((eager, "eager"), (replayed, "graph")):
        of.reconfigure(structs.replace(of.settings, model_size="18", execution=execution), of.save())
    replayed.model.load_state_dict(eager.model.state_dict())
    # The first step runs eagerly, then the graph is captured.
    for step in (1, 2, 3):
        losses_of(eager, 1)
        losses_of(replayed, 1)
        for (name, expected), found in zip(
            eager.model.named_buffers(), replayed.model.buffers(), strict=True
        ):
            if name.endswith("num_batches_tracked"):
                assert found.item() == expected.item() == step
            else:
                torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3, msg=name)
    for of in (eager, replayed):
        of.close()


def test_what_a_graph_spends_on_backward_is_not_known(made: Made) -> None:
    of = made("lasagne-mlp", execution="graph")
    losses_of(of, 3)
    torch.cuda.synchronize()
    of.clock.take(3)
    losses_of(of, 20)
    torch.cuda.synchronize()
    _, phases, dispatch_ms = of.clock.take(20)
    assert phases is not None
    assert (phases["forward"].device_ms or 0.0) > 0.0
    assert phases["backward"].device_ms is None
    assert phases["optimizer"].device_ms is None
    assert (dispatch_ms or 0.0) > 0.0


def test_to_graphs_and_back_and_to_the_cpu_keeps_the_curve() -> None:
    preset = structs.replace(small("lasagne-mlp"), optimizer=AdamOptimizer())
    stays, moves = trainer(preset), trainer(preset)
    expected = losses_of(stays, 40)
    found = losses_of(moves, 5)
    for setting, to in [
        ("device", "cuda:0"),
        ("execution", "graph"),
        ("execution", "eager"),
        ("execution", "graph"),
        ("model_size", "x1"),
        ("execution", "eager"),
        ("device", "cpu"),
    ]:
        assert changes.make(moves, setting, to).error is None, (setting, to)
        assert moves.loss is not None
        found += [moves.loss.item(), *losses_of(moves, 4)]
    assert found == pytest.approx(expected, abs=2e-3)
    for state in moves.optimizer.state.values():
        assert state["step"].device.type == "cpu"
    assert not moves.optimizer.param_groups[0]["capturable"]


def test_inference_and_bf16_as_graphs(made: Made) -> None:
    for passes, bits in (("forward", "fp32"), ("forward", "bf16"), ("training", "bf16")):
        expected = losses_of(made("keras-mnist-mlp", precision=bits, passes=passes), 10)
        replayed = made("keras-mnist-mlp", precision=bits, passes=passes, execution="graph")
        assert losses_of(replayed, 10) == pytest.approx(expected, rel=2e-2), (passes, bits)


class Waits(nn.Module):
    """A model that looks at a number on the host."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.waits = True

    def forward(self, inputs: Tensor) -> Tensor:
        outputs: Tensor = self.layer(inputs)
        return outputs * 2 if self.waits and outputs.sum().item() > 1e9 else outputs


def test_a_step_that_waits_cannot_be_captured_and_harms_nothing() -> None:
    model = Waits().cuda()
    parts = parts_of(model, optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    inputs, targets, clock = torch.ones(8, 4).cuda(), torch.zeros(8, 4).cuda(), PhaseClock(GPU)
    wanted = chosen(device="cuda:0", batch_size=8)
    execution = GraphExecution(parts, wanted)
    with pytest.raises(ExecutionError, match=r"^execution graph: this step waits for the device"):
        execution.run(inputs, targets, clock)
    execution.close()
    model.waits = False
    execution = GraphExecution(parts, wanted)
    losses = [execution.run(inputs, targets, clock).item() for _ in range(5)]
    execution.close()
    assert losses[-1] < losses[0]


def test_graphs_share_their_memory_and_leave_none(made: Made, note: Note) -> None:
    before = torch.cuda.memory_allocated(0)
    of = made("keras-mnist-mlp", execution="graph")
    losses_of(of, 2)
    torch.cuda.synchronize()
    one = torch.cuda.memory_reserved(0)
    for size in (128, 256, 512):
        assert changes.make(of, "batch_size", size).error is None
        losses_of(of, 2)
    note("keras-mnist-mlp, four graphs' memory / one's", torch.cuda.memory_reserved(0) / one, "x")
    assert changes.make(of, "execution", "eager").error is None
    assert changes.make(of, "device", "cpu").error is None
    losses_of(of, 2)
    # cuBLAS keeps some for each stream that it was called on.
    assert torch.cuda.memory_allocated(0) < before + 100_000_000


@pytest.mark.parametrize("name", MLPS)
def test_compiled_steps_on_the_gpu(name: str, made: Made, note: Note) -> None:
    eager = made(name, data_path="resident")
    expected = losses_of(eager, 20)
    compiled = made(name, data_path="resident", execution="compiled")
    found = losses_of(compiled, 20)
    compiling_ms = compiled.preparation_ms()
    assert compiling_ms is not None
    note(f"{name}, compiling", compiling_ms / 1e3, "s")
    if name == "lasagne-mlp":  # The other's dropout draws its numbers in another way.
        assert found == pytest.approx(expected, rel=1e-3)
    outcomes = [changes.make(compiled, "batch_size", size) for size in (128, 256, 512)]
    assert sum(outcome.preparation_ms is not None for outcome in outcomes) <= 1
    assert changes.make(eager, "batch_size", 512).error is None
    note("  batch 512, compiled / eager", steps_per_s(compiled) / steps_per_s(eager), "x")


def test_what_compiles_ends_with_the_worker() -> None:
    reports: list[Report] = []
    preset = small("lasagne-mlp")
    wanted = settings.initial(preset, "cuda:0").with_value("execution", "compiled")
    worker = WorkerProcess()
    group = psutil.Process(worker.pid)
    ended: list[str | None] = []
    worker.attach(reports.append, ended.append)
    worker.send(Start(preset=preset, settings=wanted))
    until(lambda: any("compiled in" in getattr(report, "text", "") for report in reports), 180)
    children = group.children(recursive=True)
    worker.stop()
    until(lambda: not any(child.is_running() for child in children), 10)
    assert not [report for report in reports if isinstance(report, Failed | Finished)]
