"""Compiled steps train as eager ones do; what compiling takes is told and counted in no rate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch._inductor.config
from msgspec import structs
from torch import Tensor
from torch._dynamo.callback import callback_handler
from torch._inductor import cpp_builder

from executions import Link, loop, train
from gputrain_presets import Preset
from gputrain_presets.spec import MlpModel, MlpSize
from gputrain_runner.protocol import Changed, Finished, Progress, Said, ScheduledChange, Started
from gputrain_runner.worker import changes
from gputrain_runner.worker.execution import compile_errors, compiled
from training import losses_of, trainer
from training_presets import small

CXX_FAILED = "C++ compile error\n\nCommand:\ng++ a.cpp\n\nOutput:\n"


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """torch.compile without its last stage, which calls a C++ compiler and takes seconds."""
    monkeypatch.setattr(compiled, "BACKEND", "aot_eager")
    yield
    torch._dynamo.reset()


def test_compiled_steps_train_as_eager_ones_do(traced: None) -> None:
    eager, other = trainer(small("lasagne-mlp")), trainer(small("lasagne-mlp"))
    expected = train(eager, [("batch_size", 100), ("threads", 1)])
    found = losses_of(other, 4)
    assert changes.make(other, "execution", "compiled").error is None
    assert other.loss is not None
    found += [other.loss.item(), *losses_of(other, 4)]
    outcome = changes.make(other, "batch_size", 100)
    assert outcome.preparation_ms is None  # One variant serves all sizes.
    found += [other.loss.item(), *losses_of(other, 19)]
    assert found == pytest.approx(expected, rel=1e-5)
    other.close()


def test_compiling_is_told_wherever_it_falls(traced: None) -> None:
    of = trainer(small("lasagne-mlp", training_samples=129))
    began = time.perf_counter()
    outcome = changes.make(of, "execution", "compiled")
    took_ms = (time.perf_counter() - began) * 1e3
    assert outcome.error is None
    assert 0.0 < (outcome.preparation_ms or 0.0) < took_ms
    losses_of(of, 1)
    assert of.preparation_ms() is None
    of.order.taken = 128
    of.step()  # A batch of one is another variant, whatever was declared.
    assert (of.preparation_ms() or 0.0) > 0.0
    assert of.preparation_ms() is None
    of.close()


@pytest.mark.parametrize("name", ["keras-mnist-mlp", "hier-bilstm"])
def test_validation_runs_the_model_uncompiled(name: str, traced: None) -> None:
    of = trainer(structs.replace(small(name, training_samples=32), batch_size=8))
    assert changes.make(of, "execution", "compiled").error is None
    before = dict(torch._dynamo.utils.counters["frames"])
    of.model.eval()
    with torch.no_grad():
        of.model(of.dataset.training.gather(slice(0, 5))[0])
    assert dict(torch._dynamo.utils.counters["frames"]) == before
    of.close()


def test_nothing_compiled_is_left_behind(traced: None) -> None:
    of = trainer(small("lasagne-mlp"))
    assert changes.make(of, "execution", "compiled").error is None
    assert callback_handler.start_callbacks
    assert changes.make(of, "execution", "eager").error is None
    assert not callback_handler.start_callbacks
    assert not callback_handler.end_callbacks


def test_without_a_compiler_the_change_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, disturbed = trainer(small("lasagne-mlp")), trainer(small("lasagne-mlp"))
    expected = losses_of(undisturbed, 20)
    found = losses_of(disturbed, 10)
    cpp_builder.cpp_compiler_search.cache_clear()
    try:
        with torch._inductor.config.patch({"cpp.cxx": (None, "no-such-c++"), "force_disable_caches": True}):
            outcome = changes.make(disturbed, "execution", "compiled")
    finally:
        cpp_builder.cpp_compiler_search.cache_clear()
    assert outcome.error == (
        "execution compiled: needs a C++ compiler and finds none: install g++, or name yours in CXX"
    )
    assert disturbed.settings.execution == "eager"
    assert found + losses_of(disturbed, 10) == expected


class Compiler(Exception):  # noqa: N818
    """An exception as the compiler's own are."""

    def __init__(self, text: str, inner: BaseException | None = None) -> None:
        super().__init__(text)
        self.inner_exception = inner


Compiler.__module__ = "torch._dynamo.exc"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            Compiler("", RuntimeError("Failed to find C compiler. Please specify via CC.")),
            "needs a C compiler and finds none: install gcc, or name yours in CC",
        ),
        (
            Compiler("", RuntimeError(f"{CXX_FAILED}x.h:1:10: fatal error: Python.h: No such file")),
            "needs Python's headers, Python.h: install python3-dev or what your system calls it",
        ),
        (
            Compiler("", RuntimeError(f"{CXX_FAILED}a.cpp: In function f:\na.cpp:3:5: error: no member\n")),
            "the C++ compiler failed: a.cpp:3:5: error: no member",
        ),
        (
            Compiler("Cannot find a working triton installation. Either the package is not installed"),
            "needs Triton for this GPU and finds none: pip install triton",
        ),
        (
            Compiler("", NotImplementedError("no lowering of aten.nothing\n\nmore")),
            "NotImplementedError: no lowering of aten.nothing",
        ),
    ],
)
def test_what_the_compiler_says_is_one_line(error: BaseException, told: str) -> None:
    assert compile_errors.explain(error) == f"execution compiled: {told}"


def test_what_the_model_raises_is_not_the_compilers() -> None:
    assert compile_errors.explain(ValueError("shapes differ")) is None


def test_lack_of_memory_while_compiling_is_told_as_such(
    traced: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = trainer(small("lasagne-mlp"))

    def no_room(*_: Any) -> Tensor:
        raise Compiler("backend failed", torch.OutOfMemoryError("Tried to allocate 9.00 GiB"))

    monkeypatch.setattr(compiled.CompiledExecution, "_measure", no_room)
    assert changes.make(of, "execution", "compiled").error == "out of memory: needs another 9.00 GiB"


def tiny() -> Preset:
    """One small hidden layer: quick to compile."""
    preset = small("lasagne-mlp", training_samples=640, validation_samples=64)
    assert isinstance(preset.model, MlpModel)
    sizes = [MlpSize(name="x1", hidden=[15])]
    return structs.replace(preset, model=structs.replace(preset.model, sizes=sizes))


def test_a_run_that_starts_compiled_says_so_and_counts_it_nowhere(traced: None) -> None:
    link = Link()
    running = loop(tiny(), link, {"execution": "compiled"}, seconds=0.3, report_every_s=0.02)
    running.run()
    running.close()
    said = [report.text for report in link.all(Said)]
    assert said[0].startswith("compiling the step")
    assert said[1].startswith("compiled in ")
    assert said[1].endswith(" s, which no rate counts")
    compiled_s = float(said[1].split()[2])
    first, *rest = link.all(Progress)
    assert (first.samples_per_s, first.steps_per_s, first.step_ms, first.phases) == (None, None, None, None)
    assert first.step >= 1
    assert not first.steady
    timed = [report.step_ms.mean for report in rest if report.step_ms is not None]
    assert timed
    assert max(timed) < compiled_s * 1e3 / 2
    # The time limit is of training.
    [started], [finished] = link.all(Started), link.all(Finished)
    assert finished.at - started.at >= 0.3 + compiled_s - 0.01


def test_a_change_that_compiles_tells_how_long(traced: None) -> None:
    link = Link()
    scheduled = [
        ScheduledChange(step=5, setting="execution", to="compiled"),
        ScheduledChange(step=9, setting="batch_size", to=1),
        ScheduledChange(step=12, setting="threads", to=2),
        ScheduledChange(step=15, setting="execution", to="graph"),
        ScheduledChange(step=16, setting="precision", to="tf32"),
        ScheduledChange(step=17, setting="execution", to="eager"),
    ]
    running = loop(tiny(), link, steps=20, scheduled=scheduled)
    running.run()
    running.close()
    made = link.all(Changed)
    assert [change.ok for change in made] == [True, True, True, False, False, True]
    assert [change.preparation_ms is not None for change in made] == [True, True, True, False, False, False]
    for change in made[:3]:
        assert (change.preparation_ms or 0.0) <= (change.done_at - change.asked_at) * 1e3
    assert [index for index, change in enumerate(made) if change.flags is not None] == [2]
    assert (made[2].flags or {})["num_threads"] == 2
    [started] = link.all(Started)
    assert (started.flags or {})["num_threads"] == 1
    said = [report.text.split(" in ")[0] for report in link.all(Said)]
    warning = "compiling the step: the first time on a machine this may take a minute"
    # Where a change compiles is known beforehand for some; one that is refused does not.
    assert said == [warning, "compiled", "compiled", "compiled"]


def test_with_the_real_compiler_the_losses_are_the_same() -> None:
    try:
        cpp_builder.cpp_compiler_search((None, "g++"))
    except RuntimeError:
        pytest.skip("there is no C++ compiler")
    eager, other = trainer(tiny()), trainer(tiny())
    expected, found = losses_of(eager, 12), losses_of(other, 5)
    assert changes.make(other, "execution", "compiled").error is None
    assert other.loss is not None
    found += [other.loss.item(), *losses_of(other, 6)]
    assert found == pytest.approx(expected, rel=1e-5)
    other.close()
