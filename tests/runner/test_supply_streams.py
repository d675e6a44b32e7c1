"""Data paths to a GPU, on simulated streams: what is in flight is neither overwritten nor used too early."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from gputrain_runner.timeline import Phase
from gputrain_runner.worker import supply
from gputrain_runner.worker.data import Split
from gputrain_runner.worker.phases import PhaseClock
from simulated_streams import Streams

SAMPLES = 400


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Iterator[Streams]:
    torch.set_num_threads(1)
    made = Streams(monkeypatch)
    yield made
    made.end()


def samples() -> Split:
    return Split(torch.arange(SAMPLES).float().repeat(5, 1).t().contiguous(), torch.arange(SAMPLES))


def run(path: str, streams: Streams) -> tuple[list[Tensor], list[Tensor], dict[str, Phase]]:
    """What the device saw of each batch when it came to it, what it should have, and the phases."""
    split = samples()
    source = supply.build(path, split, streams.device, 0)
    clock = PhaseClock(streams.device)
    seen: list[Tensor] = []
    expected: list[Tensor] = []

    def step(wanted: Tensor) -> None:
        clock.begin()
        inputs, targets = source.next(clock)
        streams.launch(lambda: seen.append(torch.cat([inputs[:, 0].long(), targets])))
        for _ in range(3):
            clock.mark()
        clock.end()
        expected.append(wanted.repeat(2))

    for epoch, batch_size in enumerate((32, 32, 100, 7)):
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(epoch))
        source.begin(order, 0, batch_size)
        for first in range(0, SAMPLES - epoch * 50, batch_size):
            step(order[first : first + batch_size])
        # A way back in the middle of what is under way.
        source.begin(order, 10, 60)
        step(order[10:70])
    streams.synchronize()
    _, phases, _ = clock.take(len(seen))
    source.close()
    assert phases is not None
    return seen, expected, phases


@pytest.mark.parametrize("path", ["host", "pinned", "prefetch", "resident"])
def test_the_device_sees_each_batch_as_it_was_given(path: str, streams: Streams) -> None:
    seen, expected, _ = run(path, streams)
    assert len(seen) == len(expected)
    for found, wanted in zip(seen, expected, strict=True):
        assert torch.equal(found, wanted)


def test_a_copy_is_timed_on_the_stream_that_makes_it(streams: Streams) -> None:
    _, _, phases = run("prefetch", streams)
    assert phases["h2d"].device_ms is not None
    assert phases["h2d"].device_ms > 0.1  # Two copies, each of a quarter of a millisecond on average.
    assert phases["data"].device_ms is None


def test_gathering_on_the_device_is_its_share_of_data(streams: Streams) -> None:
    _, _, phases = run("resident", streams)
    assert phases["data"].device_ms is not None
    assert phases["h2d"].device_ms is not None
