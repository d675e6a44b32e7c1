"""Bursts in a trainer's steps: when they come, what they show, and that they leave no trace."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest
import torch
from msgspec import structs
from torch import Tensor
from torch.autograd import profiler

from gputrain_presets import Preset
from gputrain_runner.protocol import Progress
from gputrain_runner.timeline import Profile, StepMs
from gputrain_runner.worker import burst, burst_events
from gputrain_runner.worker.burst import Bursts, spacing_s
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

EVERY_S = 30.0


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class Bench:
    """A trainer with bursts, and reports at the times that a test says."""

    def __init__(self, preset: Preset | None = None, every_s: float | None = EVERY_S) -> None:
        self.trainer: Trainer = trainer(preset or small("lasagne-mlp"))
        self.said: list[str] = []
        self.bursts = Bursts(self.trainer, every_s, self.said.append)

    def report(self, at: float, steady: bool = True, step_ms: float | None = 0.6) -> None:
        times = None if step_ms is None else StepMs(p50=step_ms, p95=step_ms, mean=step_ms)
        self.bursts.consider(
            Progress(
                at=at,
                step=0,
                epoch=0,
                samples=0,
                settings=self.trainer.settings,
                steady=steady,
                samples_per_s=1e5,
                steps_per_s=1.6e3,
                step_ms=times,
                loss=0.5,
                phases=None,
                dispatch_ms=None,
                flops_per_s=None,
                memory=None,
            )
        )

    def burst(self) -> Profile | None:
        """Make the steps of the burst under way; what it showed."""
        assert self.bursts.under_way
        while self.bursts.under_way:
            self.bursts.step()
        return self.bursts.take_profile()


def settled(preset: Preset | None = None) -> Bench:
    """A bench whose next step is a burst's first."""
    bench = Bench(preset)
    losses_of(bench.trainer, 3)
    bench.report(10.0)
    bench.report(12.0)
    return bench


def test_what_a_burst_shows_on_a_cpu() -> None:
    bench = settled()
    profile = bench.burst()
    assert profile is not None
    assert (profile.steps, profile.step_ms) == (5, 0.6)
    assert 0 < profile.work_ms <= profile.step_ms
    assert profile.work_ms == pytest.approx(sum(kind.ms for kind in profile.work.values()))
    # Five layers: four and the last; a product forward, two backward, but none for the inputs.
    assert profile.work["matmul"].count == 4 + 7
    assert {"optimizer", "elementwise", "reduction", "copy"} <= set(profile.work)
    assert profile.launches == sum(kind.count for kind in profile.work.values())
    assert profile.supply_ms is not None
    assert 0 < profile.supply_ms < profile.work_ms
    assert profile.sync_count == 0
    assert profile.copy_ms is profile.tensor_core_ms is profile.launch_calls is bench.bursts.busy is None
    assert bench.bursts.take_profile() is None
    assert bench.said == []


def test_a_value_read_back_in_every_step_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = EagerExecution.forward

    def looking(execution: EagerExecution, inputs: Tensor, targets: Tensor) -> Tensor:
        loss = forward(execution, inputs, targets)
        assert loss.item() >= 0
        return loss

    monkeypatch.setattr(EagerExecution, "forward", looking)
    # The optimizer of this one reads its own counters as well.
    profile = settled(small("keras-mnist-mlp")).burst()
    assert profile is not None
    assert profile.sync_count == 1
    assert profile.sync_ms is not None
    assert profile.sync_ms > 0


@pytest.mark.parametrize(
    ("name", "setting", "kind"),
    [("hier-bilstm", None, "recurrence"), ("resnet", ("model_size", "18"), "convolution")],
)
def test_kinds_of_work(name: str, setting: tuple[str, str] | None, kind: str) -> None:
    preset = structs.replace(small(name, training_samples=24, validation_samples=0), batch_size=2)
    if setting is not None:
        preset = structs.replace(preset, model=structs.replace(preset.model, default_size=setting[1]))
    profile = settled(preset).burst()
    assert profile is not None
    assert next(iter(profile.work)) == kind
    if kind == "convolution":
        assert profile.work["normalisation"].count == 2 * 20


def test_a_graph_of_compiled_code_is_work_too() -> None:
    bench = Bench()
    bench.trainer.reconfigure(
        bench.trainer.settings.with_value("execution", "compiled"), bench.trainer.save()
    )
    losses_of(bench.trainer, 3)
    bench.report(10.0)
    bench.report(12.0)
    profile = bench.burst()
    assert profile is not None
    assert profile.work["matmul"].count == 4 + 7
    # Forward and backward, each with loops of its own, and the gradient of the loss by itself.
    assert profile.work["elementwise"].count == 3
    bench.trainer.close()


def test_a_burst_leaves_no_trace_in_training() -> None:
    expected = losses_of(trainer(small("keras-mnist-mlp")), 40)
    bench = Bench(small("keras-mnist-mlp"))
    found = losses_of(bench.trainer, 10)
    bench.report(10.0)
    bench.report(12.0)
    while bench.bursts.under_way:
        assert bench.bursts.step() == 64
        assert bench.trainer.loss is not None
        found.append(bench.trainer.loss.item())
    assert len(found) == 16
    found += losses_of(bench.trainer, 40 - len(found))
    assert found == expected


def test_a_burst_is_in_no_time() -> None:
    bench = settled()
    clock = bench.trainer.clock
    clock.take(3)
    while bench.bursts.under_way:
        before = perf_counter()
        bench.bursts.step()
        assert clock.boundary > before  # The next step begins after it.
    assert bench.trainer.clock is clock
    assert clock.active_s == 0
    assert clock.take(0) == (None, None, None)


def test_the_first_comes_once_steps_are_steady() -> None:
    bench = Bench()
    losses_of(bench.trainer, 3)
    for at, steady in ((1.0, False), (2.0, True), (3.0, True), (3.2, False), (3.4, True), (4.8, True)):
        bench.report(at, steady)
        assert not bench.bursts.under_way, at
    bench.report(4.85, step_ms=None)  # A validation's, say.
    assert not bench.bursts.under_way
    bench.report(4.95)
    assert bench.bursts.under_way


def test_the_next_comes_when_it_is_wanted_and_at_once_after_a_change() -> None:
    bench = settled()
    assert bench.burst() is not None
    for at in (14.0, 41.0):
        bench.report(at)
        assert not bench.bursts.under_way
    bench.report(43.0)
    assert bench.burst() is not None
    bench.trainer.reconfigure(bench.trainer.settings.with_value("batch_size", 32), bench.trainer.save())
    for at, steady, begins in ((44.0, False, False), (45.0, True, False), (46.6, True, True)):
        bench.report(at, steady)
        assert bench.bursts.under_way == begins


def test_bursts_that_cost_much_come_rarely() -> None:
    assert spacing_s(30, 0.01, first=False) == 30
    assert spacing_s(30, 0.3, first=False) == pytest.approx(60)
    assert spacing_s(0.5, 0.01, first=False) == pytest.approx(2)
    assert spacing_s(30, 0.9, first=True) == 0
    assert spacing_s(30, 1.2, first=True) == pytest.approx(15)
    assert spacing_s(30, 1.2, first=False) == pytest.approx(240)


@pytest.mark.parametrize("every_s", [None, 0.0])
def test_without_bursts_none_begins(every_s: float | None) -> None:
    bench = Bench(every_s=every_s)
    losses_of(bench.trainer, 3)
    bench.report(10.0)
    bench.report(100.0)
    assert not bench.bursts.under_way


def test_long_steps_are_few() -> None:
    for step_ms, steps in ((10.0, 5), (100.0, 3), (1000.0, 1)):
        bench = Bench()
        losses_of(bench.trainer, 3)
        bench.report(10.0, step_ms=step_ms)
        bench.report(12.0, step_ms=step_ms)
        profile = bench.burst()
        assert profile is not None
        assert profile.steps == steps


def test_a_burst_does_not_begin_shortly_before_an_epochs_end() -> None:
    bench = Bench(small("lasagne-mlp", training_samples=10 * 64))
    losses_of(bench.trainer, 5)
    bench.report(10.0)
    bench.report(12.0)
    assert not bench.bursts.under_way
    losses_of(bench.trainer, 5)
    bench.trainer.begin_epoch()
    bench.bursts.begin_epoch()
    profile = bench.burst()
    assert profile is not None
    assert profile.steps == 5
    bench.bursts.begin_epoch()
    assert not bench.bursts.under_way


@pytest.mark.parametrize(("batches", "steps"), [(1, 1), (2, 1), (3, 2)])
def test_in_short_epochs_there_are_fewer_steps(batches: int, steps: int) -> None:
    bench = Bench(small("lasagne-mlp", training_samples=batches * 64))
    losses_of(bench.trainer, batches)
    bench.report(10.0)
    bench.report(12.0)
    assert not bench.bursts.under_way
    bench.trainer.begin_epoch()
    bench.bursts.begin_epoch()
    profile = bench.burst()
    assert profile is not None
    assert profile.steps == steps


def test_batches_gathered_during_a_burst_make_no_rate() -> None:
    bench = Bench(small("lasagne-mlp", training_samples=100 * 64))
    bench.trainer.reconfigure(
        bench.trainer.settings.with_value("data_path", "prefetch"), bench.trainer.save()
    )
    losses_of(bench.trainer, 3)
    for at in (10.0, 12.0):
        bench.report(at, step_ms=0.01)  # As many as there may be: the burst took longer than 64 such steps.
    for _ in range(6):
        bench.bursts.step()
    assert bench.bursts.take_profile() is not None
    assert not profiler._is_profiler_enabled
    left_out = 0
    while bench.bursts.under_way:
        bench.bursts.step()
        left_out += 1
    assert left_out == burst.MOST_LEFT_OUT
    assert bench.trainer.clock.active_s > 0  # Of the steps before.
    assert bench.bursts.take_profile() is None
    bench.trainer.close()


def test_a_burst_can_be_given_up() -> None:
    bench = settled()
    bench.bursts.give_up()
    assert not bench.bursts.under_way
    assert not profiler._is_profiler_enabled
    bench.report(12.5)
    bench.bursts.step()
    assert profiler._is_profiler_enabled
    bench.bursts.give_up()
    assert not profiler._is_profiler_enabled
    assert bench.bursts.take_profile() is None
    bench.report(13.0)
    assert bench.burst() is not None


def test_after_a_step_that_fails_the_clock_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = settled()
    clock = bench.trainer.clock

    def broken(*_: Any) -> Tensor:
        raise RuntimeError("a loss that cannot be")

    with monkeypatch.context() as patched:
        patched.setattr(EagerExecution, "forward", broken)
        with pytest.raises(RuntimeError, match="a loss that cannot be"):
            bench.bursts.step()
    assert bench.trainer.clock is clock
    bench.bursts.give_up()


def test_a_profiler_that_cannot_run_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise RuntimeError("Profiler is already enabled on this thread\nand more")

    monkeypatch.setattr(profiler.profile, "__enter__", refused)
    bench = settled()
    losses_of(bench.trainer, 5)
    bench.report(50.0)
    assert not bench.bursts.under_way
    assert bench.said == [
        "what cpu really does stays unknown, PyTorch's profiler cannot tell: "
        "Profiler is already enabled on this thread"
    ]


def test_a_profiler_that_sees_nothing_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(burst_events, "read", lambda _: [])
    bench = settled()
    assert bench.burst() is None
    assert not profiler._is_profiler_enabled
    bench.report(50.0)
    assert not bench.bursts.under_way
    assert bench.said == [
        "what cpu really does stays unknown, PyTorch's profiler cannot tell: it sees nothing run there"
    ]
