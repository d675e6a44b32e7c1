"""Every pair of settings that a CPU allows, changed while it trains: training goes on, or says why not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from msgspec import structs

from executions import Link, loop
from gputrain_presets import Preset
from gputrain_runner.protocol import Changed, Finished, Progress, ScheduledChange
from gputrain_runner.settings import RULES, Value
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import compiled
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

OTHER: dict[str, tuple[Value, ...]] = {
    "batch_size": (48,),
    "model_size": ("x0.5",),
    "precision": ("bf16", "fp16"),
    "execution": ("compiled",),
    "data_path": ("loader", "prefetch", "resident"),
    "workers": (1,),
    "models_at_once": (3,),
    "passes": ("forward",),
    "threads": (2,),
}
"""What a CPU can be changed to, setting by setting."""
REFUSED: dict[str, dict[Value, str]] = {
    "device": {"cuda:0": "there is no such device here; there are cpu"},
    "precision": {"tf32": "precision tf32 needs an NVIDIA GPU of compute capability 8.0 (Ampere) or newer"},
    "execution": {
        "graph": "execution graph needs a CUDA GPU: a graph replays kernels without the host, a CPU has none"
    },
    "data_path": {"pinned": "data path pinned needs a CUDA GPU: pinned memory is for copies to one"},
}
"""What it cannot, and why."""
OF_SOME_PRESETS = {"memory_format", "recurrence"}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, and torch.compile without its last stages: what they do is another test's."""
    torch.set_num_threads(1)
    monkeypatch.setattr(compiled, "BACKEND", "eager")
    yield
    torch.set_num_threads(1)


@pytest.fixture
def of() -> Iterator[Trainer]:
    made = trainer(small("lasagne-mlp"))
    assert changes.make(made, "model_size", "x0.25").error is None
    yield made
    made.close()


def change(of: Trainer, setting: str, to: Value) -> None:
    """Change it, and train on."""
    outcome = changes.make(of, setting, to)
    assert outcome.error is None, f"{setting} {to} under {of.settings}: {outcome.error}"
    assert of.settings.value(setting) == to
    assert of.loss is not None
    for loss in (of.loss.item(), *losses_of(of, 1)):
        assert math.isfinite(loss), f"{setting} {to} under {of.settings}"


def test_every_setting_is_walked() -> None:
    assert set(OTHER) | set(REFUSED) | OF_SOME_PRESETS == set(RULES)


@pytest.mark.parametrize("one", list(OTHER)[:-1])
def test_every_pair_can_be_changed_and_changed_back(of: Trainer, one: str) -> None:
    begin = of.settings
    later = list(OTHER)[list(OTHER).index(one) + 1 :]
    for value in OTHER[one]:
        change(of, one, value)
        for other in later:
            for other_value in OTHER[other]:
                change(of, other, other_value)
            change(of, other, begin.value(other))
        change(of, one, begin.value(one))
    assert of.settings == begin


def test_what_a_cpu_cannot_is_refused_whatever_else_is_set(of: Trainer) -> None:
    for name in ("batch_size", "precision", "data_path", "models_at_once", "passes"):
        change(of, name, OTHER[name][-1])
        settings = of.settings
        for setting, values in REFUSED.items():
            for to, why in values.items():
                assert changes.make(of, setting, to) == changes.Outcome(why, 0)
                assert of.settings == settings
    assert math.isfinite(losses_of(of, 1)[0])


def of_a_few(name: str, **changed: Any) -> Preset:
    """A preset on a few samples, in its smallest size."""
    preset = small(name, training_samples=8, validation_samples=0)
    return structs.replace(preset, batch_size=2, **changed)


@pytest.mark.parametrize(
    ("name", "size", "setting", "to"),
    [
        ("hier-bilstm", "64", "recurrence", "stepwise"),
        ("googlenet", "x0.5", "memory_format", "channels_last"),
    ],
)
def test_settings_of_some_presets_go_with_all_others(name: str, size: str, setting: str, to: Value) -> None:
    of = trainer(of_a_few(name))
    default = of.settings.value(setting)
    assert changes.make(of, "model_size", size).error is None
    turns: list[tuple[str, Value]] = [
        (setting, to),
        ("precision", "bf16"),
        ("batch_size", 3),
        ("passes", "forward"),
        (setting, default),
        ("data_path", "prefetch"),
        (setting, to),
    ]
    for turn, value in turns:
        outcome = changes.make(of, turn, value)
        assert outcome.error is None, outcome.error
        assert of.loss is not None
        assert of.loss.isfinite(), f"{turn} {value}"
    of.close()


def test_a_change_where_an_epoch_ends_begins_the_next() -> None:
    # 300 samples in batches of 64, of which the last has 44: each epoch is of five steps.
    link = Link()
    scheduled = [ScheduledChange(step=5, setting="batch_size", to=100)]
    preset = small("keras-mnist-mlp", training_samples=300, validation_samples=30)
    running = loop(preset, link, steps=8, scheduled=scheduled)
    running.run()
    running.close()
    [changed], [finished] = link.all(Changed), link.all(Finished)
    assert (changed.ok, changed.step) == (True, 5)
    assert (finished.samples, finished.epoch) == (300 + 3 * 100, 2)
    assert finished.loss_last is not None
    validations = [report.validation for report in link.all(Progress) if report.validation is not None]
    assert [validation.epoch for validation in validations] == [1, 2]


def test_a_batch_larger_than_what_is_left_of_an_epoch_begins_the_next() -> None:
    # lasagne-mlp leaves out what does not fill a batch: of 300 samples, after one batch of 64, 236 are left.
    link = Link()
    scheduled = [ScheduledChange(step=1, setting="batch_size", to=250)]
    preset = small("lasagne-mlp", training_samples=300, validation_samples=30)
    running = loop(preset, link, steps=3, scheduled=scheduled)
    running.run()
    running.close()
    assert link.all(Finished)[0].samples == 64 + 2 * 250
    assert any(report.validation is not None for report in link.all(Progress))
