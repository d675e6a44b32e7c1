"""The probe asked of the real worker: before training and in the midst of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gputrain_runner.protocol import (
    Finished,
    Pause,
    Paused,
    Probe,
    Probed,
    Progress,
    Resume,
    ScheduledChange,
    Started,
    Stop,
)
from training_presets import small
from worker_client import Client

QUICK = 0.05
STEPS = 500
MARKS = (150, 300, 450)


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.process.stop()


def test_before_training_and_each_device_by_itself(client: Client) -> None:
    client.process.send(Probe(devices=["cuda:7", "cpu"], seconds_each=QUICK))
    first = client.wait_for(Probed)
    assert (first.device, first.ceilings, first.more) == ("cuda:7", None, True)
    assert first.error is not None and first.error.startswith("there is no device cuda:7 here; there are")
    second = client.wait_for(Probed)
    assert second.ceilings is not None and second.ceilings.matmul_flops_per_s["fp32"].median > 0
    assert (second.device, second.error, second.more) == ("cpu", None, False)
    client.start(small("lasagne-mlp"), steps=20)
    assert client.wait_for(Finished).step == 20


def test_an_empty_list_means_every_device(client: Client) -> None:
    client.process.send(Probe(seconds_each=QUICK))
    found = client.wait_for(Probed)
    while found.more:
        found = client.wait_for(Probed)
    assert found.device == "cpu"


def curve(client: Client, *, probing: bool) -> list[tuple[int, float | None]]:
    """The losses at some steps, and the last one."""
    # Changes to what it is already: a report of the loss right before a step that is known.
    marks = [ScheduledChange(step=step, setting="workers", to=1) for step in MARKS]
    client.start(small("keras-mnist-mlp"), steps=STEPS, scheduled=marks, report_every_s=3600.0)
    client.wait_for(Started)
    if probing:
        client.process.send(Probe(devices=["cpu"], seconds_each=QUICK))
        assert client.wait_for(Probed).ceilings is not None
    finished = client.wait_for(Finished)
    losses = [(each.step, each.loss) for each in client.all(Progress) if each.step in MARKS]
    return [*losses, (finished.step, finished.loss_last)]


def test_training_goes_on_as_if_it_had_not_been(client: Client) -> None:
    with_probe = curve(client, probing=True)
    other = Client()
    try:
        without = curve(other, probing=False)
    finally:
        other.process.stop()
    assert with_probe[-1][0] == STEPS
    # Dropout and the order of the samples come from random numbers: not one was taken.
    assert with_probe == without
    probed = next(index for index, each in enumerate(client.seen) if isinstance(each, Probed))
    after = [each for each in client.seen[probed:] if isinstance(each, Progress)]
    assert after, "the whole training was over before it probed"
    assert not after[0].steady


def test_a_limit_of_time_does_not_count_it(client: Client) -> None:
    client.start(small("lasagne-mlp"), seconds=1.5, report_every_s=0.05)
    started = client.wait_for(Started)
    client.process.send(Probe(devices=["cpu"], seconds_each=1.5))
    probed = client.wait_for(Probed)
    before = client.all(Progress)  # Of the last steps before it, a report goes first.
    trained_s = before[-1].at - started.at if before else 0.0
    assert trained_s + client.wait_for(Finished).at - probed.at > 1.4


def test_it_stops_when_it_is_told_to(client: Client) -> None:
    client.start(small("lasagne-mlp"))
    client.wait_for(Started)
    client.process.send(Probe(devices=["cpu"], seconds_each=600.0))
    client.process.send(Stop())
    probed = client.wait_for(Probed)
    assert (probed.ceilings, probed.error, probed.more) == (None, "stopped before it was measured", False)
    assert client.wait_for(Finished).stopped


def test_while_it_is_paused(client: Client) -> None:
    client.start(small("lasagne-mlp"), report_every_s=0.02)
    client.wait_for(Started)
    client.process.send(Pause())
    paused = client.wait_for(Paused)
    client.process.send(Probe(devices=["cpu"], seconds_each=QUICK))
    assert client.wait_for(Probed).ceilings is not None
    client.process.send(Resume())
    assert client.wait_for(Progress).step > paused.step
