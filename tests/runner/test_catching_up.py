"""Between epochs a device may be behind, still at the steps: that time is theirs, and no other is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from executions import Link, loop
from gputrain_runner.protocol import Finished
from gputrain_runner.worker.phases import PhaseClock
from simulated_streams import SimulatedDevice
from training_presets import small

ELSE_S = 0.02
"""What the host does that is no part of a step."""


class Device:
    """Stands in for CUDA: it is at the steps that were queued until it is told that they are done."""

    def __init__(self) -> None:
        self.behind = True

    def synchronize(self, _device: object) -> None:
        if self.behind:
            time.sleep(ELSE_S)
            self.behind = False

    def event(self) -> Any:
        return self

    def record(self, _stream: object) -> None: ...

    def query(self) -> bool:
        return not self.behind


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Device]:
    stands_in = Device()
    monkeypatch.setattr(torch.cuda, "synchronize", stands_in.synchronize)
    monkeypatch.setattr(torch.cuda, "Event", stands_in.event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: None)
    yield stands_in


@pytest.fixture
def clock(device: Device) -> PhaseClock:
    """Of that device, whose last step has just ended."""
    simulated: Any = SimulatedDevice()
    made = PhaseClock(simulated, cost_s=0.0)
    made.go_on()
    return made


def test_time_in_which_the_device_is_still_at_steps_is_theirs(clock: PhaseClock) -> None:
    clock.hold()
    time.sleep(ELSE_S)
    clock.go_on()
    assert clock.active_s >= ELSE_S


def test_time_in_which_it_has_nothing_to_do_is_no_steps(clock: PhaseClock, device: Device) -> None:
    clock.hold()
    time.sleep(ELSE_S)
    device.behind = False
    began = clock.boundary
    clock.go_on()
    assert clock.active_s == 0
    assert clock.boundary > began


def test_an_interruption_that_nobody_announced_is_no_steps(clock: PhaseClock) -> None:
    time.sleep(ELSE_S)
    clock.go_on()
    assert clock.active_s == 0


def test_what_waits_for_the_device_lets_it_finish_in_the_steps_time(clock: PhaseClock) -> None:
    clock.hold()
    clock.catch_up()
    assert clock.active_s >= ELSE_S
    before = clock.active_s
    time.sleep(ELSE_S)  # The validation, say.
    clock.go_on()
    assert clock.active_s == before


def test_there_is_nothing_to_catch_up_with_where_the_device_waits(clock: PhaseClock, device: Device) -> None:
    device.behind = False
    time.sleep(ELSE_S)
    clock.catch_up()
    assert clock.active_s == 0


def test_a_cpu_is_never_behind(device: Device) -> None:
    clock = PhaseClock(torch.device("cpu"))
    clock.hold()
    clock.catch_up()
    clock.go_on()
    assert clock.active_s == 0 and device.behind


@pytest.mark.parametrize(("validation", "caught_up"), [(0, 0), (64, 1)])
def test_each_epoch_is_announced_and_a_validation_waited_for(
    validation: int, caught_up: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    monkeypatch.setattr(PhaseClock, "hold", lambda _: happened.append("held"))
    monkeypatch.setattr(PhaseClock, "catch_up", lambda _: happened.append("caught up"))
    link = Link()
    training = loop(small("lasagne-mlp", 128, validation), link, steps=5)
    training.run()
    training.close()
    assert link.all(Finished)[0].step == 5
    # Two steps an epoch.
    assert happened == ["held", *["caught up"] * caught_up] * 2
