"""Batches made ahead that come too late: nothing else limits a step then, however long it is started for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from diagnosis_gpu_cases import on_gpu
from diagnosis_parts import profile, times, work
from gputrain_runner.diagnosis.engine import diagnose, saved_ms
from gputrain_runner.diagnosis.inputs import Inputs
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.diagnosis.rules.launch import launch_bound
from gputrain_runner.diagnosis.step_model import step_model


def fed_by(path: str, data_ms: float, workers: int = 2) -> Inputs:
    """A network that takes 0.8 ms to start and 0.3 ms to run, and waits so long for each batch."""
    host = {"data": data_ms, "h2d": 0.02, "forward": 0.3, "backward": 0.3, "optimizer": 0.2, "other": 0.02}
    kinds = work(matmul=(0.15, 13), elementwise=(0.1, 30), optimizer=(0.05, 12))
    steps = times(host, {"forward": 0.3, "backward": 0.3, "optimizer": 0.2}, dispatch_ms=0.8)
    burst = profile(steps.step_ms, 0.3, kinds, copy_ms=0.01, copy_exposed_ms=0.01, tensor_core_ms=0.0)
    return on_gpu("keras-mnist-mlp", data_path=path, workers=workers, step=steps, profile=burst)


def test_gaps_in_the_optimizers_span_are_the_hosts() -> None:
    """Its kernels take a twentieth of the step, its span a quarter: what takes the time is starting them."""
    inputs = fed_by("host", 0.02)
    assert named(inputs)[0] == names.LAUNCH
    assert names.OPTIMIZER not in named(inputs)
    assert inputs.workload is not None
    loop = structs.replace(inputs, workload=structs.replace(inputs.workload, optimizer_way="loop"))
    assert names.OPTIMIZER in named(loop)


def named(inputs: Inputs) -> list[str]:
    return [finding.bottleneck for finding in diagnose(inputs)]


def test_a_loader_that_cannot_keep_up_is_named_though_starting_takes_longer() -> None:
    inputs = fed_by("loader", 0.45)
    assert step_model(inputs).starting_ms > step_model(inputs).input_ms
    first, *others = diagnose(inputs)
    assert first.bottleneck == names.INPUT
    launch = next(one for one in others if one.bottleneck == names.LAUNCH)
    assert saved_ms(launch, inputs.step_ms) == 0
    assert launch.remedies == [] and "in time" in launch.evidence[-1]


@pytest.mark.parametrize(
    ("path", "data_ms", "workers"),
    [
        # It keeps up: what it costs to take a batch that is ready is no wait.
        ("loader", 0.12, 2),
        # Batches are put together in between: both add up.
        ("loader", 0.45, 0),
        ("host", 0.45, 2),
    ],
)
def test_starting_limits_where_batches_come_in_time(path: str, data_ms: float, workers: int) -> None:
    assert named(fed_by(path, data_ms, workers))[0] == names.LAUNCH


def test_only_the_wait_tells() -> None:
    late = fed_by("prefetch", 0.45)
    model = step_model(late)
    assert model.late
    hidden, limiting = launch_bound(late, model), launch_bound(late, replace(model, late=False))
    assert hidden is not None and hidden.slice_ms is None
    assert limiting is not None and limiting.slice_ms == model.starting_ms
    in_time = structs.replace(late, settings=late.settings.with_value("data_path", "pinned"))
    assert not step_model(in_time).late
