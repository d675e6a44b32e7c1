"""A user's own model: built, trained and changed on the way by its own code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from msgspec import structs

from gputrain_runner import settings
from gputrain_runner.protocol import (
    Changed,
    Finished,
    Progress,
    Said,
    ScheduledChange,
    Start,
    Started,
)
from gputrain_runner.worker import changes, data, describe, ensemble, first_batch, models, service
from training import losses_of, trainer
from user_presets import MODEL, write
from user_training import Listener, edited, load, train, users_modules  # noqa: F401 - a fixture


def test_it_trains_and_its_loss_falls(tmp_path: Path) -> None:
    preset = load(write(tmp_path))

    losses = losses_of(trainer(preset), 200)

    assert sum(losses[-20:]) < 0.8 * sum(losses[:20])


def test_batch_size_and_model_size_change_on_the_way(tmp_path: Path) -> None:
    scheduled = [
        ScheduledChange(step=3, setting="batch_size", to=64),
        ScheduledChange(step=6, setting="model_size", to="large"),
        ScheduledChange(step=9, setting="device", to="cuda:7"),
    ]

    heard = train(write(tmp_path), steps=12, scheduled=scheduled)

    (started,) = (report for report in heard if isinstance(report, Started))
    assert started.parameters == 12 * 8 + 8 + 8 * 4 + 4
    assert started.synthetic
    made = [(report.setting, report.ok) for report in heard if isinstance(report, Changed)]
    assert made == [("batch_size", True), ("model_size", True), ("device", False)]
    (finished,) = (report for report in heard if isinstance(report, Finished))
    assert finished.step == 12


def test_models_at_once_train_as_each_alone(tmp_path: Path) -> None:
    preset = load(write(tmp_path))
    inputs = torch.randn(5, 3, 4)
    alone = []
    for seed in (7, 8, 9):
        torch.manual_seed(seed)
        alone.append(models.build(preset.model, "small")(inputs))

    together = ensemble.build(preset.model, "small", 3, seed=7)(inputs)

    assert torch.allclose(together, torch.stack(alone), atol=1e-6)
    of = trainer(preset)
    assert changes.make(of, "models_at_once", 3).error is None
    losses = losses_of(of, 200)
    assert sum(losses[-20:]) < 0.8 * sum(losses[:20])


def test_models_at_once_are_refused_with_a_reason(tmp_path: Path) -> None:
    model = edited("nn.Linear(width, 4)", "nn.Sequential(nn.BatchNorm1d(width), nn.Linear(width, 4))")
    of = trainer(load(write(tmp_path, model=model)))

    error = changes.make(of, "models_at_once", 3).error

    assert error is not None
    assert "statistics in buffers" in error
    assert len(losses_of(of, 3)) == 3


def test_it_is_described_as_built(tmp_path: Path) -> None:
    small, large = describe.describe(load(write(tmp_path)))

    assert (small.name, small.parameters, small.tensors) == ("small", 140, 4)
    assert small.forward_flops_per_sample == 2 * (12 * 8 + 8 * 4)
    assert large.forward_flops_per_sample == 2 * (12 * 32 + 32 * 4)


def test_what_cannot_be_counted_is_not_known(tmp_path: Path) -> None:
    model = edited("        return self.scores", "        assert inputs.any()\n        return self.scores")

    facts = describe.describe(load(write(tmp_path, model=model)))

    assert [size.forward_flops_per_sample for size in facts] == [None, None]
    assert [size.parameters for size in facts] == [140, 548]
    heard = train(write(tmp_path, model=model), steps=30, report_every_s=0.001)
    counted = [report.flops_per_s for report in heard if isinstance(report, Progress)]
    assert counted
    assert set(counted) == {None}


def test_its_siblings_are_imported_and_python_keeps_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A worker is a process of its own; this one has seen other files of that name.
    monkeypatch.delitem(sys.modules, "my_model", raising=False)
    (tmp_path / "sibling_alone.py").write_text("import my_model\nWIDTH = 8\n")
    (tmp_path / "json.py").write_text("raise SystemExit('the user\\'s json.py was imported')\n")
    checks = "assert sibling_alone.my_model.make is make\njson.loads('1')\n"
    model = f"import json\nimport sibling_alone\n{MODEL}\n{checks}"

    heard = train(write(tmp_path, model=model))

    assert isinstance(heard[-1], Finished)


def test_a_file_named_like_a_library_takes_nothings_place(tmp_path: Path) -> None:
    path = write(tmp_path, ('"my_model.py"', '"json.py"'))
    (tmp_path / "my_model.py").rename(tmp_path / "json.py")

    train(path)

    import json

    assert json.loads("1") == 1


@pytest.mark.parametrize(
    "build",
    [
        "def make():\n    return Net(8)\n",
        "def make(size='small'):\n    return Net(WIDTHS[size])\n",
        "def make(*sizes):\n    assert not sizes\n    return Net(8)\n",
        "def make(size):\n    assert size == 'default'\n    return Net(8)\n",
        "class make(Net):\n    def __init__(self, width=8):\n        super().__init__(width)\n",
    ],
)
def test_without_sizes_a_function_or_a_class_is_called_with_nothing(tmp_path: Path, build: str) -> None:
    model = MODEL[: MODEL.index("def make")] + build

    heard = train(write(tmp_path, ('sizes = ["small", "large"]\n', ""), model=model))

    assert isinstance(heard[-1], Finished)


def test_what_it_makes_pytorchs_defaults_stays_its_own(tmp_path: Path) -> None:
    turned = "set_default_dtype(torch.float64)", "set_default_device('meta')", "set_grad_enabled(False)"
    model = "".join(f"import torch; torch.{call}\n" for call in turned) + MODEL

    heard = train(write(tmp_path, model=model))

    assert isinstance(heard[-1], Finished)
    assert torch.get_default_dtype() == torch.float32
    assert torch.zeros(1).device.type == "cpu"
    assert torch.is_grad_enabled()


def test_checking_leaves_the_random_state_as_it_was(tmp_path: Path) -> None:
    preset = load(write(tmp_path))
    torch.manual_seed(7)
    expected = [parameter.clone() for parameter in models.build(preset.model, "small").parameters()]
    torch.manual_seed(7)

    first_batch.check(preset, data.load(preset.data, preset.model), settings.initial(preset, "cpu"))
    found = models.build(preset.model, "small").parameters()

    assert all(map(torch.equal, expected, found))


def test_counting_leaves_the_random_state_as_it_was(tmp_path: Path) -> None:
    preset = load(write(tmp_path))
    before = torch.get_rng_state()

    assert describe.training_flops_per_sample(preset, "small") is not None

    assert torch.equal(torch.get_rng_state(), before)


def test_a_loss_that_diverges_is_told_with_what_may_be_wrong(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ('"AdamW"\nlr = 0.01\narguments = { weight_decay = 0.01, betas = [0.9, 0.99] }', '"SGD"\nlr = 1e30'),
    )

    heard = train(path, steps=40, report_every_s=0.0)

    (said,) = (report for report in heard if isinstance(report, Said))
    assert said.level == "warning"
    assert said.text.endswith(f"training has diverged; optimizer.lr in {path} may be too large")
    assert isinstance(heard[-1], Finished)


@pytest.mark.parametrize("raised", ["KeyError(1)", "SystemExit(1)", "TypeError('odd')"])
def test_a_change_that_its_code_fails_at_leads_back(tmp_path: Path, raised: str) -> None:
    refuse = f"if len(inputs) == 64:\n            raise {raised}\n        return self.scores"
    of = trainer(load(write(tmp_path, model=edited("return self.scores", refuse))))
    losses_of(of, 3)

    error = changes.make(of, "batch_size", 64).error

    assert error is not None
    assert error.startswith(f"my_model.py:14 in forward: {raised.partition('(')[0]}: ")
    assert of.settings.batch_size == 16
    assert len(losses_of(of, 3)) == 3


def test_a_model_that_ends_the_process_says_so(tmp_path: Path) -> None:
    count = "self.steps = getattr(self, 'steps', 0) + 1"
    leave = f"{count}\n        if self.steps > 5: exit(3)\n        return self.scores"

    with pytest.raises(service.UserError) as caught:
        train(write(tmp_path, model=edited("return self.scores", leave)), steps=20)

    assert str(caught.value) == "my_model.py:14 in forward: SystemExit: 3"
    assert not caught.value.usage


def test_a_batch_larger_than_the_data(tmp_path: Path) -> None:
    preset = load(write(tmp_path))
    chosen = structs.replace(settings.initial(preset, "cpu"), batch_size=999)

    with pytest.raises(service.UserError, match="batch_size: found 999, allowed: at most 320"):
        service.train(Start(preset=preset, settings=chosen), Listener())
