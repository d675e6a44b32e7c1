"""Bursts in a step loop: every step counts once, and whatever comes during a burst comes at its step."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
import torch
from torch.autograd import profiler

from executions import Link, loop
from gputrain_runner.protocol import (
    Changed,
    ChangeSetting,
    Command,
    Finished,
    Pause,
    Paused,
    Progress,
    Resume,
    Resumed,
    Said,
    ScheduledChange,
    Stop,
)
from gputrain_runner.worker import burst, reports
from training_presets import small


class InABurst(deque[Command]):
    """Commands that come while the profiler runs, one with each burst."""

    def __init__(self, *due: Command) -> None:
        super().__init__()
        self.due = list(due)
        self._looks = 0

    def __len__(self) -> int:
        """Asked before every step."""
        self._looks = self._looks + 1 if profiler._is_profiler_enabled else 0
        if self._looks == 3 and self.due:
            self.append(self.due.pop(0))
        return super().__len__()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are steady at once, and a burst comes as soon as they are."""
    torch.set_num_threads(1)
    monkeypatch.setattr(burst, "FIRST_AFTER_S", 0.0)
    monkeypatch.setattr(reports, "SETTLING_S", 0.0)
    monkeypatch.setattr(reports, "SETTLING_STEPS", 1)


def run(link: Link, preset: str = "lasagne-mlp", **options: Any) -> Finished:
    """Train to the end."""
    made = loop(small(preset), link, **{"report_every_s": 0.01, **options})
    made.run()
    made.close()
    assert not profiler._is_profiler_enabled
    [finished] = link.all(Finished)
    return finished


def profiles(link: Link) -> list[Progress]:
    """The reports that brought one."""
    return [progress for progress in link.all(Progress) if progress.profile is not None]


def test_every_step_is_in_a_rate_but_those_of_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    in_rates = []
    progress = reports.Window.progress

    def counting(window: reports.Window, *arguments: Any, **options: Any) -> Progress:
        in_rates.append(window.steps)
        return progress(window, *arguments, **options)

    monkeypatch.setattr(reports.Window, "progress", counting)
    link = Link()
    finished = run(link, steps=400)
    assert (finished.step, finished.epoch) == (400, 400 // 31)
    assert finished.samples == 400 * 64
    [only] = profiles(link)
    assert only.profile is not None
    assert only.steady
    assert only.busy is None
    # Five are profiled, one before them warms the profiler up.
    assert sum(in_rates) == 400 - 6
    assert len(link.all(Said)) == 0


def test_without_bursts_all_are() -> None:
    link = Link()
    assert run(link, steps=200, profile_every_s=None).step == 200
    assert profiles(link) == []


def test_a_change_during_a_burst_comes_at_its_step() -> None:
    link = Link()
    link.commands = InABurst(ChangeSetting(setting="batch_size", to=32, asked_at=0.0))
    finished = run(link, steps=600)
    [changed] = link.all(Changed)
    assert changed.ok
    assert finished.samples == changed.step * 64 + (600 - changed.step) * 32
    # The burst that it interrupted shows nothing, the next is of the new settings.
    assert [progress.settings.batch_size for progress in profiles(link)] == [32]


def test_a_pause_during_a_burst() -> None:
    link = Link()
    link.commands = InABurst(Pause())
    taken = link.next_command

    def resuming(timeout_s: float | None = None) -> Command | None:
        return taken(timeout_s) or Resume()

    link.next_command = resuming  # type: ignore[method-assign]
    assert run(link, steps=400).step == 400
    assert len(link.all(Paused)) == len(link.all(Resumed)) == 1
    assert len(profiles(link)) == 1


def test_stop_during_a_burst() -> None:
    link = Link()
    link.commands = InABurst(Stop())
    finished = run(link)
    assert finished.stopped
    assert profiles(link) == []


def test_scheduled_changes_are_exact_to_the_step() -> None:
    steps = range(50, 250, 4)
    scheduled = [
        ScheduledChange(step=step, setting="batch_size", to=32 if index % 2 else 16)
        for index, step in enumerate(steps)
    ]
    link = Link()
    run(link, steps=300, scheduled=scheduled)
    assert [changed.step for changed in link.all(Changed)] == list(steps)


def test_epochs_end_as_without_bursts() -> None:
    found = []
    for every_s in (None, 0.05):
        link = Link()
        finished = run(link, "keras-mnist-mlp", epochs=6, profile_every_s=every_s)
        validations = [progress.validation for progress in link.all(Progress) if progress.validation]
        found.append((finished.step, finished.samples, finished.loss_last, validations[-1].loss))
    assert found[0] == found[1]
    assert found[0][0] == 6 * 32


def test_a_profile_that_came_last_is_reported_with_the_end() -> None:
    link = Link()
    run(link, steps=50, report_every_s=0.0)
    [after] = profiles(link)
    link = Link()
    run(link, steps=after.step - 1, report_every_s=0.0)
    [last] = profiles(link)
    assert last is link.all(Progress)[-1]
    assert (last.step, last.samples_per_s) == (after.step - 1, None)
