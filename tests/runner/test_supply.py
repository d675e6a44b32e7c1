"""Data paths: whichever feeds the training, the batches are the same, and nothing is left of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from fake_worker import until
from gputrain_runner.settings import Value
from gputrain_runner.worker import changes, supply
from gputrain_runner.worker.data import DataError, Split
from gputrain_runner.worker.data.image_folder import FolderSplit
from gputrain_runner.worker.execution.eager import EagerExecution
from gputrain_runner.worker.phases import PhaseClock
from gputrain_runner.worker.sample_order import SampleOrder
from gputrain_runner.worker.supply import Supply, SupplyError, loader
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

CPU = torch.device("cpu")
PATHS = [("host", 0), ("loader", 0), ("loader", 2), ("prefetch", 0), ("resident", 0)]
AHEAD = [("loader", 2), ("prefetch", 0)]
SAMPLES = 150

Batches = list[tuple[Tensor, Tensor]]
Open = Callable[..., Supply]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Of every test, no thread and no process stays."""
    before = set(threading.enumerate())
    yield
    until(lambda: not set(threading.enumerate()) - before and not multiprocessing.active_children())


@pytest.fixture
def opened() -> Iterator[Open]:
    """Supplies that are closed at the end."""
    made: list[Supply] = []

    def open_supply(path: str, workers: int = 0, split: Any = None) -> Supply:
        made.append(supply.build(path, split or samples(), CPU, workers))
        return made[-1]

    yield open_supply
    for one in made:
        one.close()


@pytest.fixture
def training() -> Iterator[Callable[..., Trainer]]:
    """Trainers that are closed at the end."""
    made: list[Trainer] = []

    def train(preset: str = "lasagne-mlp", **changed: Value) -> Trainer:
        of = trainer(small(preset))
        made.append(of)
        for name, value in changed.items():
            of.reconfigure(of.settings.with_value(name, value), of.save())
        return of

    yield train
    for one in made:
        one.close()


def samples() -> Split:
    return Split(torch.arange(SAMPLES * 12.0).view(SAMPLES, 3, 4), torch.arange(SAMPLES))


class Watched:
    """A split that counts what is gathered, and at one sample does what it is told."""

    def __init__(self, at: int | None = None, do: Callable[[], None] | None = None) -> None:
        self.gathered = 0
        self._split, self._at, self._do = samples(), at, do

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        self.gathered += 1
        if index == self._at and self._do is not None:
            self._do()
        return self._split[index]

    def gather(
        self, chosen: Tensor | slice, into: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        for index in torch.arange(SAMPLES)[chosen].tolist():
            self[index]
        return self._split.gather(chosen, into)


def broken() -> None:
    raise DataError("/photos/cat.jpg: cannot be read as an image: not an image")


def take(source: Supply, count: int) -> Batches:
    """The next batches, kept: a supply may use their memory again."""
    clock = PhaseClock(CPU)
    return [
        (inputs.clone(), targets.clone()) for inputs, targets in (source.next(clock) for _ in range(count))
    ]


def walk(source: Supply) -> Batches:
    """Two epochs with incomplete last batches, another batch size on the way, and a way back."""
    order = SampleOrder(SAMPLES, 64, drop_last=False, seed=1)
    batches: Batches = []

    def go_on(count: int) -> None:
        source.begin(order.order, order.taken, order.batch_size)
        for inputs, targets in take(source, count):
            first = order.taken
            order.advance()
            assert torch.equal(targets, order.order[first : order.taken])  # A sample's target is its place.
            batches.append((inputs, targets))

    go_on(1)
    place = order.place()
    order.batch_size = 20
    go_on(2)
    order.go_back(place)
    order.batch_size = 64
    go_on(2)
    order.begin_epoch()
    go_on(1)
    order.batch_size = 33
    go_on(3)
    assert order.exhausted
    order.begin_epoch()
    order.batch_size = SAMPLES
    go_on(1)
    return batches


@pytest.mark.parametrize(("path", "workers"), PATHS)
def test_every_path_gives_the_same_batches(path: str, workers: int, opened: Open) -> None:
    expected = walk(opened("host"))
    assert [len(targets) for _, targets in expected] == [64, 20, 20, 64, 22, 64, 33, 33, 20, 150]
    for found, wanted in zip(walk(opened(path, workers)), expected, strict=True):
        assert torch.equal(found[0], wanted[0])
        assert torch.equal(found[1], wanted[1])
        assert found[0].dtype == wanted[0].dtype


@pytest.mark.parametrize(("path", "workers"), AHEAD)
def test_what_is_ahead_is_not_counted_as_taken(path: str, workers: int, training: Any) -> None:
    of = training(data_path=path, workers=workers)
    losses_of(of, 3)
    assert of.order.taken == of.save().place.taken == 3 * 64


@pytest.mark.parametrize("preset", ["lasagne-mlp", "keras-mnist-mlp"])
def test_changing_the_path_while_training_changes_nothing_else(preset: str, training: Any) -> None:
    # keras-mnist-mlp has dropout: no path may draw from the random numbers that it draws from.
    expected = losses_of(training(preset), 70)
    changed = training(preset)
    found = losses_of(changed, 5)
    turns = "data_path loader, workers 0, workers 1, data_path prefetch, data_path resident, data_path host"
    for setting, to in (turn.split() for turn in turns.split(", ")):
        assert changes.make(changed, setting, int(to) if to.isdigit() else to) == changes.Outcome(None, 64)
        found += [changed.loss.item(), *losses_of(changed, 9)]  # The first step is a part of the change.
    assert found == expected[: len(found)]


@pytest.mark.parametrize(("path", "workers"), AHEAD)
def test_after_a_failed_change_the_same_batches_come_again(
    path: str, workers: int, training: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, disturbed = training(), training(data_path=path, workers=workers)
    expected = losses_of(stays, 50)
    found = losses_of(disturbed, 25)

    def out_of_memory(*_: Any) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB.")

    with monkeypatch.context() as failing:
        failing.setattr(EagerExecution, "forward", out_of_memory)
        assert changes.make(disturbed, "batch_size", 256).error == "out of memory: needs another 9.00 GiB"
    assert found + losses_of(disturbed, 25) == expected


def test_what_is_prepared_is_kept_where_the_place_is_the_same(opened: Open) -> None:
    split = Watched()
    source = opened("prefetch", split=split)
    order = torch.randperm(SAMPLES)
    source.begin(order, 0, 50)
    take(source, 1)
    source.begin(order, 50, 50)
    take(source, 2)
    assert split.gathered == SAMPLES


@pytest.mark.parametrize(("path", "workers"), PATHS[:-1])
def test_a_broken_file_is_the_one_line_it_is(path: str, workers: int, opened: Open) -> None:
    source = opened(path, workers, split=Watched(70, broken))
    order = torch.arange(SAMPLES)
    source.begin(order, 0, 64)
    take(source, 1)
    with pytest.raises(DataError) as raised:
        take(source, 1)
    assert changes.plain(raised.value) == "/photos/cat.jpg: cannot be read as an image: not an image"
    source.begin(order, 0, 64)
    assert torch.equal(take(source, 1)[0][1], order[:64])


def test_another_failure_in_a_process_is_one_line_too(opened: Open) -> None:
    def stumble() -> None:
        raise TypeError("an image of two dimensions")

    source = opened("loader", 1, split=Watched(3, stumble))
    source.begin(torch.arange(SAMPLES), 0, 64)
    with pytest.raises(SupplyError) as raised:
        take(source, 1)
    assert changes.plain(raised.value) == "TypeError: an image of two dimensions"


def test_a_process_that_is_killed_is_an_error_and_not_a_wait(opened: Open) -> None:
    source = opened("loader", 1, split=Watched(100, lambda: os.kill(os.getpid(), signal.SIGKILL)))
    source.begin(torch.arange(SAMPLES), 0, 10)
    with pytest.raises(SupplyError, match=r"one of the loader.s processes has ended: killed by SIGKILL"):
        take(source, 15)


def test_closing_does_not_wait_for_a_process_that_hangs(opened: Open) -> None:
    source = opened("loader", 2, split=Watched(70, lambda: time.sleep(60)))
    source.begin(torch.arange(SAMPLES), 0, 64)
    take(source, 1)
    assert len(multiprocessing.active_children()) == 2
    closing = threading.Thread(target=source.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    assert not multiprocessing.active_children()


def test_closing_does_not_wait_for_a_thread_that_hangs(opened: Open) -> None:
    reached, goes_on = threading.Event(), threading.Event()

    def hang() -> None:
        reached.set()
        goes_on.wait(60)

    source = opened("prefetch", split=Watched(70, hang))
    source.begin(torch.arange(SAMPLES), 0, 64)
    assert reached.wait(10)
    source.close()
    assert "prefetch" in [thread.name for thread in threading.enumerate()]
    goes_on.set()


@pytest.mark.parametrize(("path", "workers"), PATHS)
def test_phases_and_the_rest_are_the_step(path: str, workers: int, training: Any) -> None:
    of = training(data_path=path, workers=workers)
    losses_of(of, 2)
    of.clock.take(0)
    losses_of(of, 20)
    step_ms, phases, _ = of.clock.take(20)
    assert step_ms is not None and phases is not None
    assert sum(phase.host_ms or 0 for phase in phases.values()) == pytest.approx(step_ms.mean, rel=0.01)
    assert all(phase.device_ms is None for phase in phases.values())


def test_too_little_shared_memory_is_said_before_anything_is_killed_for_it(
    training: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = training()
    monkeypatch.setattr(loader, "free_shared_memory", lambda: 64 << 10)
    outcome = changes.make(of, "data_path", "loader")
    assert outcome.error is not None
    assert outcome.error.startswith(
        "data path loader needs 0.1 MB of shared memory, /dev/shm has 0.1 MB left"
    )
    assert of.settings.data_path == "host"
    losses_of(of, 3)


def test_paths_that_cannot_work_say_why(training: Any, opened: Open) -> None:
    outcome = changes.make(training(), "data_path", "pinned")
    assert outcome.error == "data path pinned needs a CUDA GPU: pinned memory is for copies to one"
    with pytest.raises(SupplyError, match="a folder of images is read file by file"):
        opened("resident", split=FolderSplit(["a.png"], torch.zeros(1, dtype=torch.int64), 8, 3))
