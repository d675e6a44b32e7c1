"""Where a training ends by itself: exactly there, and what counts for it."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import pytest
import torch

from executions import Link, loop
from gputrain_runner.protocol import Finished, Progress, Started, Stop
from gputrain_runner.worker.trainer import Trainer
from training_presets import small


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def run(**options: Any) -> Link:
    """Train 2,000 samples an epoch in batches of 64, 31 steps: what is left over is skipped."""
    link = Link()
    running = loop(small("lasagne-mlp"), link, report_every_s=0.0, **options)
    running.run()
    running.close()
    return link


@pytest.mark.parametrize(("steps", "epochs"), [(30, 0), (31, 1), (32, 1), (62, 2), (63, 2)])
def test_an_epoch_that_ends_with_the_last_step_is_counted_and_validated(steps: int, epochs: int) -> None:
    link = run(steps=steps)

    [finished] = link.all(Finished)
    validated = [report.validation.epoch for report in link.all(Progress) if report.validation]
    assert (finished.step, finished.epoch) == (steps, epochs)
    assert validated == list(range(1, epochs + 1))
    assert link.all(Progress)[-1].epoch == epochs


def test_what_compiling_takes_is_no_time_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = deque([200.0])
    took_s = 0.0

    def preparation_ms(_of: Trainer) -> float | None:
        """The first step was compiled, in so long."""
        nonlocal took_s
        if not prepared:
            return None
        began = time.monotonic()
        time.sleep(prepared.popleft() / 1e3)
        took_s = time.monotonic() - began
        return took_s * 1e3

    monkeypatch.setattr(Trainer, "preparation_ms", preparation_ms)

    link = run(seconds=0.1)

    [started], reports, [finished] = link.all(Started), link.all(Progress), link.all(Finished)
    assert finished.at - started.at >= 0.1 + took_s
    for report in reports:
        assert report.trained_s is not None
        assert 0 <= report.trained_s <= report.at - started.at - took_s
    assert reports[-1].trained_s is not None and reports[-1].trained_s > 0


def test_stopping_counts_an_epoch_whose_last_step_is_done() -> None:
    class StopsAfter(Link):
        """Stops the training as soon as it hears of the epoch's last step."""

        def send(self, report: Any) -> None:
            super().send(report)
            if isinstance(report, Progress) and report.step == 31:
                self.commands.append(Stop())

    link = StopsAfter()
    running = loop(small("lasagne-mlp"), link, report_every_s=0.0)
    running.run()
    running.close()

    [finished] = link.all(Finished)
    assert (finished.step, finished.epoch, finished.stopped) == (31, 1, True)
