"""A fixed number of steps, each timed: what the worker does for one point of a sweep."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs

import user_presets
from fake_sweep_worker import tiny
from gputrain_presets import Preset, load
from gputrain_runner.protocol import StepsTimed, TimeSteps
from gputrain_runner.settings import initial
from gputrain_runner.worker import step_timer
from gputrain_runner.worker.step_timer import StepTimer
from gputrain_runner.worker.time_steps import time_steps


def timed(
    preset: Preset, *, runs: int = 6, warmup: int = 1, seconds: float = 60.0, **values: Any
) -> StepsTimed:
    settings = structs.replace(initial(preset, "cpu"), **values)
    return time_steps(TimeSteps(preset=preset, settings=settings, warmup=warmup, runs=runs, seconds=seconds))


def small(samples: int = 100) -> Preset:
    preset = tiny()
    return structs.replace(preset, data=structs.replace(preset.data, training_samples=samples))


def test_each_step_has_its_times() -> None:
    found = timed(small(), runs=6)
    assert (found.outcome, found.error) == ("ok", None)
    assert len(found.forward_ms) == len(found.forward_backward_ms) == len(found.step_ms) == 6
    for forward, both, step in zip(found.forward_ms, found.forward_backward_ms, found.step_ms, strict=True):
        assert 0 < forward < both < step
    assert found.began_at is not None
    assert sum(found.step_ms) / 1e3 <= found.at - found.began_at
    assert found.samples_per_s is not None and found.samples_per_s > 0
    assert found.peak_memory_bytes is not None and found.peak_memory_bytes > 50e6
    assert found.flops_per_sample is not None and found.flags is not None
    assert found.settings.threads is None


def test_forward_alone_is_timed_alone() -> None:
    found = timed(small(), passes="forward")
    assert len(found.forward_ms) == 6 and found.forward_backward_ms == []


def test_a_smaller_last_batch_is_no_step_of_the_point(monkeypatch: pytest.MonkeyPatch) -> None:
    from gputrain_runner.worker.trainer import Trainer

    taken: list[int] = []
    step = Trainer.step

    def counted(self: Trainer) -> int:
        taken.append(step(self))
        return taken[-1]

    monkeypatch.setattr(Trainer, "step", counted)
    found = timed(small(100), runs=12, batch_size=40)
    assert len(found.step_ms) == 12 and taken == [40] * 13


def test_long_steps_end_in_time_with_fewer_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from gputrain_runner.worker.trainer import Trainer

    step = Trainer.step

    def slow(self: Trainer) -> int:
        time.sleep(0.05)
        return step(self)

    monkeypatch.setattr(Trainer, "step", slow)
    began = time.monotonic()
    found = timed(small(), runs=1000, warmup=1000, seconds=1.0)
    assert found.outcome == "ok" and 2 <= len(found.step_ms) < 20
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"batch_size": 101}, "larger than the data, which has 100 training samples"),
        ({"execution": "graph"}, "needs a CUDA GPU"),
        ({"model_size": "huge"}, "huge"),
    ],
)
def test_what_cannot_be_is_an_outcome_with_its_reason(values: dict[str, Any], said: str) -> None:
    found = timed(small(), **values)
    assert found.outcome == "failed" and said in (found.error or "")
    assert found.step_ms == [] and found.samples_per_s is None


def test_a_model_that_raises_is_told_at_its_line(tmp_path: Path) -> None:
    model = user_presets.MODEL.replace("return Net(", "raise ValueError('no luck')\n    return Net(")
    found = timed(load(str(user_presets.write(tmp_path, model=model))))
    assert found.outcome == "failed" and "no luck" in (found.error or "")


def test_what_does_not_fit_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from gputrain_runner.worker.trainer import Trainer

    def full(_self: Trainer) -> int:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9000000 bytes.")

    monkeypatch.setattr(Trainer, "step", full)
    found = timed(small())
    assert found.outcome == "out_of_memory"
    assert found.error == "out of memory: this host cannot give another 9.0 MB"


class DeviceTime:
    """A device that does each piece of work when it is done with those before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done_ms = 0.0
        device = self

        class Event:
            def __init__(self, enable_timing: bool) -> None:
                assert enable_timing
                self.at_ms = 0.0

            def record(self, _stream: object) -> None:
                self.at_ms = device.done_ms

            def query(self) -> bool:
                return True

            def elapsed_time(self, end: Event) -> float:
                return end.at_ms - self.at_ms

        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: None)
        monkeypatch.setattr(step_timer, "synchronize", lambda _device: None)

    def step(self, clock: StepTimer, *phases_ms: float) -> None:
        clock.begin()
        clock.mark()
        for ms in phases_ms:
            self.done_ms += ms
            clock.mark()
        clock.end()


def test_on_a_gpu_a_step_lasts_as_long_as_it_does_there(monkeypatch: pytest.MonkeyPatch) -> None:
    device = DeviceTime(monkeypatch)
    clock = StepTimer(torch.device("cuda:0"))
    device.step(clock, 100, 100, 100, 100)
    clock.forget()
    # The host queues all of it within microseconds.
    device.step(clock, 1, 5, 10, 4)
    device.step(clock, 1, 6, 11, 4)
    device.done_ms += 1000
    clock.go_on()
    device.step(clock, 1, 7, 12, 4)
    assert clock.forward_ms() == [5, 6, 7]
    assert clock.forward_backward_ms() == [15, 17, 19]
    assert clock.step_ms() == [20, 22, 24]
    assert not clock.launched_whole


def test_a_step_launched_as_one_has_no_forward_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    device = DeviceTime(monkeypatch)
    clock = StepTimer(torch.device("cuda:0"))
    clock.forget()
    clock.begin()
    clock.mark()
    device.done_ms += 1
    clock.mark()
    device.done_ms += 8
    clock.mark_whole()
    clock.end()
    assert clock.launched_whole
    assert clock.forward_backward_ms() == [8] and clock.step_ms() == [9]
