"""Several changes before one step: made together, and of those that do not go together, what can be."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from executions import Link, loop
from gputrain_runner.protocol import Changed, Finished, ScheduledChange
from gputrain_runner.settings import Settings
from gputrain_runner.worker import changes, changes_together
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 9.00 GiB. GPU 0 of which 1.00 GiB is free."
TOLD = "out of memory: needs another 9.00 GiB, 1.00 GiB are free"


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def out_of_memory_where(
    monkeypatch: pytest.MonkeyPatch, too_much: Callable[[EagerExecution, Tensor], bool]
) -> None:
    """A device whose memory some steps do not fit into."""
    forward = EagerExecution.forward

    def limited(execution: EagerExecution, inputs: Tensor, targets: Tensor) -> Tensor:
        if too_much(execution, inputs):
            raise torch.OutOfMemoryError(OUT_OF_MEMORY)
        return forward(execution, inputs, targets)

    monkeypatch.setattr(EagerExecution, "forward", limited)


def begun() -> Trainer:
    of = trainer(small("lasagne-mlp"))
    losses_of(of, 5)
    return of


def test_all_are_in_force_for_the_same_step() -> None:
    of = begun()

    outcome = changes_together.make(of, {"batch_size": 128, "precision": "bf16", "model_size": "3x80"})

    assert outcome == changes_together.Outcome({}, samples=128)
    assert (of.settings.batch_size, of.settings.precision, of.settings.model_size) == (128, "bf16", "3x80")
    assert of.order.taken == 5 * 64 + 128


def test_one_that_runs_out_of_memory_leaves_the_others_as_if_made_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone, together = begun(), begun()
    assert changes.make(alone, "data_path", "resident").error is None
    expected = losses_of(alone, 10)
    out_of_memory_where(monkeypatch, lambda _execution, inputs: len(inputs) >= 256)

    outcome = changes_together.make(together, {"batch_size": 256, "data_path": "resident"})

    assert outcome == changes_together.Outcome({"batch_size": TOLD}, samples=64)
    assert together.settings == alone.settings
    assert losses_of(together, 10) == expected


def test_two_that_work_alone_but_not_together_are_made_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of = begun()
    out_of_memory_where(
        monkeypatch,
        lambda execution, inputs: len(inputs) >= 256 and execution.settings.model_size == "x2",
    )

    outcome = changes_together.make(of, {"model_size": "x2", "batch_size": 256})

    assert outcome == changes_together.Outcome({"batch_size": TOLD}, samples=64)
    assert (of.settings.model_size, of.settings.batch_size) == ("x2", 64)


def test_where_none_can_be_made_all_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, of = begun(), begun()
    expected = losses_of(undisturbed, 10)
    with monkeypatch.context() as patched:
        out_of_memory_where(patched, lambda _execution, _inputs: True)
        outcome = changes_together.make(of, {"model_size": "x2", "batch_size": 256, "precision": "tf32"})

    assert set(outcome.errors) == {"model_size", "batch_size", "precision"}
    assert (outcome.errors["batch_size"], outcome.samples) == (TOLD, 0)
    assert outcome.errors["precision"].startswith("precision tf32 needs an NVIDIA GPU")
    assert losses_of(of, 10) == expected


def test_what_is_refused_leaves_the_others() -> None:
    of = begun()

    outcome = changes_together.make(of, {"batch_size": 4000, "data_path": "pinned", "workers": 1})

    assert outcome.errors == {
        "batch_size": "larger than the data, which has 2,000 training samples",
        "data_path": "data path pinned needs a CUDA GPU: pinned memory is for copies to one",
    }
    assert of.settings.workers == 1


def test_what_needs_another_of_the_changes_is_made_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    of = begun()

    def refusal(_of: Trainer, wanted: Settings) -> str | None:
        """As tf32 is refused without the GPU that another of the changes goes to."""
        if wanted.batch_size > 2000:
            return "too large"
        return "not yet" if wanted.precision == "bf16" and wanted.threads != 2 else None

    monkeypatch.setattr(changes_together, "refusal", refusal)

    outcome = changes_together.make(of, {"precision": "bf16", "batch_size": 4000, "threads": 2})

    assert outcome == changes_together.Outcome({"batch_size": "too large"}, samples=64)
    assert (of.settings.precision, of.settings.threads) == ("bf16", 2)


def test_each_change_is_answered_for_and_the_step_counts_once() -> None:
    link = Link()
    scheduled = [
        ScheduledChange(step=7, setting="threads", to=2),
        ScheduledChange(step=7, setting="batch_size", to=4000),
        ScheduledChange(step=7, setting="model_size", to="x2"),
        ScheduledChange(step=7, setting="precision", to="fp32"),
        ScheduledChange(step=8, setting="batch_size", to=32),
    ]

    loop(small("lasagne-mlp"), link, steps=10, scheduled=scheduled).run()

    told = [
        (answer.step, answer.setting, answer.ok, answer.flags is not None) for answer in link.all(Changed)
    ]
    assert told == [
        (7, "threads", True, False),
        (7, "model_size", True, True),
        (7, "batch_size", False, False),
        (8, "batch_size", True, False),
    ]
    [finished] = link.all(Finished)
    assert (finished.step, finished.samples) == (10, 8 * 64 + 2 * 32)
