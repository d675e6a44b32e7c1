"""Data paths on a real GPU: the same losses, no batch overwritten while it is used, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from gputrain_runner.settings import Value
from gputrain_runner.timeline import Phase, StepMs
from gputrain_runner.worker import changes, supply
from gputrain_runner.worker.data import Split
from gputrain_runner.worker.phases import PhaseClock
from gputrain_runner.worker.supply import Supply
from gputrain_runner.worker.supply.memory import free_shared_memory
from gputrain_runner.worker.trainer import Trainer
from training import losses_of, trainer
from training_presets import small

Note = Callable[[str, float, str], None]
Open = Callable[..., Supply]
GPU = torch.device("cuda:0")
PATHS = [("host", 0), ("loader", 2), ("pinned", 0), ("prefetch", 0), ("resident", 0)]
IMAGES = 512
LARGE = 128
"""Of images of 600 kB: 77 MB a batch."""


@pytest.fixture
def opened() -> Iterator[Open]:
    made: list[Supply] = []

    def open_supply(path: str, workers: int, split: Split) -> Supply:
        made.append(supply.build(path, split, GPU, workers))
        return made[-1]

    yield open_supply
    for one in made:
        one.close()


@pytest.fixture
def training() -> Iterator[Callable[..., Trainer]]:
    made: list[Trainer] = []

    def train(samples: int = 2000, **changed: Value) -> Trainer:
        of = trainer(small("lasagne-mlp", training_samples=samples), "cuda:0")
        made.append(of)
        for name, value in changed.items():
            of.reconfigure(of.settings.with_value(name, value), of.save())
        return of

    yield train
    for one in made:
        one.close()


@pytest.fixture(scope="module")
def images() -> Split:
    pixels = torch.randn(IMAGES, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    return Split(pixels, torch.arange(IMAGES))


@pytest.mark.parametrize(("path", "workers"), PATHS[1:])
def test_every_path_gives_the_same_losses(path: str, workers: int, training: Callable[..., Trainer]) -> None:
    expected = losses_of(training(), 70)
    found = losses_of(training(data_path=path, workers=workers), 70)
    assert found == pytest.approx(expected, rel=1e-5)


def test_going_from_path_to_path_while_training(training: Callable[..., Trainer]) -> None:
    expected, of = losses_of(training(), 70), training()
    found = losses_of(of, 5)
    for path in ("pinned", "prefetch", "loader", "resident", "host"):
        outcome = changes.make(of, "data_path", path)
        assert outcome.error is None
        assert of.loss is not None
        found += [of.loss.item(), *losses_of(of, 9)]
    assert found == pytest.approx(expected[: len(found)], rel=1e-5)


@pytest.mark.parametrize(("path", "workers"), PATHS)
def test_no_batch_is_overwritten_while_the_gpu_is_behind(path: str, workers: int, opened: Open) -> None:
    """The GPU comes to each batch long after the host has asked for the next ones."""
    samples, batch = 2000, 96
    split = Split(torch.arange(samples).float().repeat(64, 1).t().contiguous(), torch.arange(samples))
    source = opened(path, workers, split)
    clock = PhaseClock(GPU)
    seen, expected = [], []
    for epoch in range(2):
        order = torch.randperm(samples, generator=torch.Generator().manual_seed(epoch))
        source.begin(order, 0, batch)
        for first in range(0, samples, batch):
            inputs, targets = source.next(clock)
            torch.cuda._sleep(3_000_000)
            seen.append((inputs.clone(), targets.clone()))
            expected.append(order[first : first + batch])
    for (inputs, targets), wanted in zip(seen, expected, strict=True):
        assert torch.equal(targets.cpu(), wanted)
        assert torch.equal(inputs.cpu(), split.inputs[wanted])


def timed(source: Supply, work: torch.Tensor, steps: int) -> tuple[StepMs, dict[str, Phase]]:
    """Steps with some work for the GPU after each batch of `LARGE` images."""
    clock = PhaseClock(GPU)

    def train(count: int) -> None:
        taken = IMAGES
        for _ in range(count):
            if taken == IMAGES:
                source.begin(torch.randperm(IMAGES), 0, LARGE)
                taken = 0
            clock.begin()
            source.next(clock)
            taken += LARGE
            for _ in range(6):
                torch.mm(work, work)
            for _ in range(3):
                clock.mark()
            clock.end()

    train(8)
    torch.cuda.synchronize()
    clock.take(0)
    clock.go_on()
    train(steps)
    torch.cuda.synchronize()
    step_ms, phases, _ = clock.take(steps)
    assert step_ms is not None
    assert phases is not None
    return step_ms, phases


def test_what_each_path_costs_for_large_batches(opened: Open, images: Split, note: Note) -> None:
    work = torch.randn(4096, 4096, device=GPU)
    steps: dict[str, StepMs] = {}
    phases: dict[str, dict[str, Phase]] = {}
    for path, workers in PATHS:
        if path == "loader" and (free_shared_memory() or 1 << 40) < 1 << 30:
            continue  # Containers often have 64 MB.
        source = opened(path, workers, images)
        steps[path], phases[path] = timed(source, work, 16)
        source.close()
        note(f"{LARGE} images of 224 x 224, {path}", steps[path].p50, "ms/step")
        for name in ("data", "h2d"):
            note(f"  {name}, host", phases[path][name].host_ms or 0.0, "ms")
            on_gpu = phases[path][name].device_ms
            if on_gpu is not None:
                note(f"  {name}, GPU", on_gpu, "ms")
    copies_ms = {path: of["h2d"].device_ms or 0.0 for path, of in phases.items()}
    assert 0 < copies_ms["pinned"] < copies_ms["host"]
    assert 0 < copies_ms["prefetch"] < copies_ms["host"]
    assert copies_ms["resident"] < copies_ms["pinned"] / 10
    assert steps["prefetch"].p50 < steps["host"].p50
    # Only what is gathered on the GPU has a share of `data` there.
    assert [path for path, of in phases.items() if of["data"].device_ms is not None] == ["resident"]


@pytest.mark.parametrize("batch_size", [128, 1024])
def test_what_each_path_costs_for_small_nets(
    batch_size: int, training: Callable[..., Trainer], note: Note
) -> None:
    for path, workers in PATHS:
        of = training(data_path=path, workers=workers, batch_size=batch_size)
        losses_of(of, 20)
        of.clock.take(0)
        of.clock.go_on()
        for _ in range(200):
            if of.order.exhausted:
                of.begin_epoch()
                of.clock.go_on()
            of.step()
        torch.cuda.synchronize()
        step_ms, _, _ = of.clock.take(200)
        assert step_ms is not None
        note(f"lasagne-mlp, batch {batch_size}, {path}", step_ms.p50, "ms/step")
        of.close()


def test_data_that_do_not_fit_on_the_gpu_are_refused(training: Callable[..., Trainer]) -> None:
    of = training(samples=200_000)
    losses_of(of, 3)
    torch.cuda.empty_cache()
    # As if the card were small: what is left is less than the data's 68 MB.
    room = torch.cuda.memory_reserved(0) + 30_000_000
    torch.cuda.set_per_process_memory_fraction(room / torch.cuda.mem_get_info(0)[1])
    try:
        outcome = changes.make(of, "data_path", "resident")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert outcome.error is not None
    assert outcome.error.startswith("out of memory")
    assert of.settings.data_path == "host"
    losses_of(of, 3)


@pytest.mark.parametrize("path", ["pinned", "prefetch", "resident"])
def test_leaving_a_path_gives_its_memory_back(path: str, training: Callable[..., Trainer]) -> None:
    of = training()
    losses_of(of, 3)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated(0)
    for to in (path, "host"):
        assert changes.make(of, "data_path", to).error is None
        losses_of(of, 3)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated(0) == before
