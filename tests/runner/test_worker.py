"""The worker as a process: what it says, when it takes commands, how it ends."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import psutil
import pytest
from msgspec import structs

from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import (
    Changed,
    ChangeSetting,
    Describe,
    Described,
    Failed,
    Finished,
    Hello,
    Pause,
    Paused,
    Progress,
    Resume,
    Resumed,
    ScheduledChange,
    Started,
    Stop,
)
from training_presets import small
from worker_client import Client


@pytest.fixture
def client() -> Iterator[Client]:
    made = Client()
    yield made
    made.process.stop()


def test_it_says_what_it_runs_on(client: Client) -> None:
    hello = client.wait_for(Hello)
    assert hello.torch
    assert hello.devices[-1].device == "cpu"
    assert hello.devices[-1].memory_bytes


def test_changes_and_limits_are_exact_to_the_step(
    client: Client,
) -> None:
    scheduled = [ScheduledChange(step=120, setting="batch_size", to=128)]
    client.start(small("lasagne-mlp"), steps=300, scheduled=scheduled, report_every_s=0.02)
    started = client.wait_for(Started)
    assert started.parameters == 17_107
    assert started.synthetic
    assert started.data.startswith("synthetic")
    finished = client.wait_for(Finished)
    [changed] = client.all(Changed)
    assert (changed.step, changed.from_, changed.to, changed.ok) == (120, 64, 128, True)
    assert finished.step == 300
    # 2000 samples an epoch in whole batches: 31 of 64, and 15 of 128 from the fourth epoch on.
    assert finished.samples == 120 * 64 + 180 * 128
    assert finished.loss_last is not None
    assert finished.loss_first is not None
    assert finished.loss_last < finished.loss_first
    assert not finished.stopped
    assert client.ended.wait(10)
    assert client.how is None
    for progress in client.all(Progress):
        if progress.step_ms:
            assert progress.phases
            total = sum(phase.host_ms or 0 for phase in progress.phases.values())
            assert total == pytest.approx(progress.step_ms.mean, rel=0.01)
    epochs = [progress.validation.epoch for progress in client.all(Progress) if progress.validation]
    assert epochs == sorted(set(epochs))
    assert epochs


def test_epochs_end_with_their_validation(client: Client) -> None:
    client.start(small("keras-mnist-mlp"), epochs=2)
    finished = client.wait_for(Finished)
    assert finished.epoch == 2
    assert finished.step == 2 * 32  # 2000 samples in batches of 64, the last one incomplete
    assert finished.samples == 2 * 2000
    validations = [progress.validation for progress in client.all(Progress) if progress.validation]
    assert [validation.epoch for validation in validations] == [1, 2]
    assert all(validation.samples == 300 for validation in validations)
    assert all(0 <= (validation.accuracy or -1) <= 1 for validation in validations)


def test_seconds_end_it(client: Client) -> None:
    client.start(small("lasagne-mlp"), seconds=0.6)
    started = client.wait_for(Started)
    finished = client.wait_for(Finished)
    assert 0.6 <= finished.at - started.at < 3.0


def test_it_takes_commands_between_steps(client: Client) -> None:
    client.start(small("lasagne-mlp"))
    started = client.wait_for(Started)
    client.process.send(ChangeSetting(setting="model_size", to="x2", asked_at=started.at))
    changed = client.wait_for(Changed)
    assert changed.ok
    assert changed.settings.model_size == "x2"
    assert changed.done_at > changed.asked_at
    client.process.send(Pause())
    paused = client.wait_for(Paused)
    client.process.send(ChangeSetting(setting="batch_size", to=10**6, asked_at=paused.at))
    refused = client.wait_for(Changed)
    assert not refused.ok
    assert refused.error == "larger than the data, which has 2,000 training samples"
    assert refused.settings.batch_size == 64
    client.process.send(Resume())
    client.wait_for(Resumed)
    assert client.wait_for(Progress).step > paused.step
    client.process.send(Stop())
    assert client.wait_for(Finished).stopped
    assert client.ended.wait(10)
    assert client.how is None


def test_it_counts_a_presets_sizes_as_built(client: Client) -> None:
    client.process.send(Describe(preset=small("lasagne-mlp")))
    described = client.wait_for(Described)
    published = next(size for size in described.sizes if size.name == "x1")
    assert (published.parameters, published.tensors, published.forward_flops_per_sample) == (
        17_107,
        8,
        33_736,
    )


def test_data_that_cannot_be_read_is_one_line(client: Client) -> None:
    preset = small("keras-mnist-mlp")
    preset = structs.replace(preset, data=structs.replace(preset.data, path="nowhere/mnist.npz"))
    client.start(preset)
    with pytest.raises(AssertionError, match=r"nowhere/mnist\.npz"):
        client.wait_for(Finished)
    failed = client.all(Failed)[0]
    assert failed.usage
    assert "\n" not in failed.error


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux to kill it with its parent")
def test_it_ends_with_its_parent_in_the_middle_of_a_step() -> None:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:  # The parent-to-be: starts a worker, tells its pid, waits to be killed.
        process = WorkerProcess()
        os.write(write_end, f"{process.pid}\n".encode())
        signal.pause()
    worker = psutil.Process(int(os.read(read_end, 100)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read_end)
    os.close(write_end)
    worker.wait(5)
    assert not worker.is_running()
