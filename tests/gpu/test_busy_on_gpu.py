"""Span is not busy, on a real GPU: what bursts show of steps that wait for the host, and of others."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec import structs

from fake_worker import until
from gputrain_presets import load
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import ChangeSetting, Progress, Report, Said, Start
from gputrain_runner.timeline import Profile
from training_presets import small

Note = Callable[[str, float, str], None]


class Worker:
    """A worker on the GPU, and its reports."""

    def __init__(self, preset_name: str, samples: int, every_s: float | None = 2.0, **chosen: Any) -> None:
        preset = structs.replace(small(preset_name, samples, 0), batch_size=load(preset_name).batch_size)
        wanted = structs.replace(settings.initial(preset, "cuda:0"), **chosen)
        self.heard: list[Report] = []
        self.process = WorkerProcess()
        self.process.attach(self.heard.append, lambda _: None)
        self.process.send(Start(preset=preset, settings=wanted, profile_every_s=every_s))

    def progress(self) -> list[Progress]:
        return [report for report in self.heard if isinstance(report, Progress)]

    def profiled(self, count: int = 1, since: int = 0) -> Progress:
        """A report that brought a profile, `count` after the first `since` reports."""

        def found() -> list[Progress]:
            return [report for report in self.progress()[since:] if report.profile is not None]

        until(lambda: len(found()) >= count or bool(self.warnings()), 90)
        assert self.warnings() == []
        return found()[count - 1]

    def change(self, setting: str, to: Any) -> int:
        """Ask for a change; how many reports there were before."""
        known = len(self.progress())
        self.process.send(ChangeSetting(setting=setting, to=to, asked_at=time.monotonic()))
        until(lambda: any(each.settings.value(setting) == to for each in self.progress()[known:]), 60)
        return known

    def warnings(self) -> list[str]:
        return [each.text for each in self.heard if isinstance(each, Said) and each.level == "warning"]

    def steady(self, at_least: int) -> list[Progress]:
        """The steady reports, once there are so many."""

        def found() -> list[Progress]:
            return [each for each in self.progress() if each.steady]

        until(lambda: len(found()) >= at_least, 60)
        return found()


@pytest.fixture
def started() -> Iterator[Callable[..., Worker]]:
    there: list[Worker] = []

    def start(*arguments: Any, **options: Any) -> Worker:
        there.append(Worker(*arguments, **options))
        return there[-1]

    yield start
    for worker in there:
        worker.process.stop()


def span_share(progress: Progress) -> float:
    """The share of a step that lies between its events on the GPU."""
    assert progress.phases is not None
    assert progress.step_ms is not None
    spans = [phase.device_ms for name, phase in progress.phases.items() if name != "h2d"]
    return sum(span for span in spans if span is not None) / progress.step_ms.mean


def told(progress: Progress, note: Note, name: str) -> Profile:
    """The profile, its figures noted."""
    profile = progress.profile
    assert profile is not None
    assert progress.busy is not None
    note(f"{name}: busy", progress.busy * 100, "%")
    note("  span / step", span_share(progress) * 100, "%")
    note("  dispatch / step", (progress.dispatch_ms or 0.0) / profile.step_ms * 100, "%")
    note("  kernels and copies", profile.launches, "a step")
    note("  syncs", profile.sync_count or 0.0, "a step")
    note("  tensor cores / work", (profile.tensor_core_ms or 0.0) / profile.work_ms * 100, "%")
    for kind, work in profile.work.items():
        note(f"  {kind}", work.ms / profile.work_ms * 100, "% of work")
    return profile


def test_a_small_network_spans_the_step_and_is_hardly_busy(
    started: Callable[..., Worker], note: Note
) -> None:
    worker = started("lasagne-mlp", 100_000, data_path="resident")
    progress = worker.profiled()
    profile = told(progress, note, "lasagne-mlp, eager")
    assert progress.busy is not None
    assert progress.busy < 0.5
    assert span_share(progress) > 0.8
    assert profile.launches >= 33
    assert profile.launch_calls is not None
    assert profile.launch_calls > 0.8 * profile.launches
    assert {"matmul", "elementwise", "optimizer"} <= set(profile.work)
    assert profile.sync_count is not None
    assert profile.sync_count < 1
    # As a graph the same kernels are launched with one call, and the GPU waits less.
    replayed = worker.profiled(since=worker.change("execution", "graph"))
    as_graph = told(replayed, note, "lasagne-mlp, graph")
    assert replayed.busy is not None
    assert replayed.busy > progress.busy
    assert as_graph.launch_calls is not None
    assert as_graph.launch_calls < 0.5 * profile.launch_calls
    assert as_graph.work_ms == pytest.approx(profile.work_ms, rel=0.5)


def test_copies_are_told_with_their_bytes(started: Callable[..., Worker], note: Note) -> None:
    worker = started("lasagne-mlp", 100_000, data_path="host")
    profile = told(worker.profiled(), note, "lasagne-mlp, host")
    assert profile.copy_bytes == 1024 * (75 + 10) * 4
    assert profile.copy_ms is not None
    assert profile.copy_exposed_ms is not None
    assert 0 < profile.copy_exposed_ms <= profile.copy_ms * 1.001
    # The host waits for its own copies: that is transfer, not synchronisation.
    assert profile.sync_count is not None
    assert profile.sync_count < 1
    note("  copies", profile.copy_ms, "ms a step")


def test_a_large_network_in_bf16_keeps_the_gpu_busy(started: Callable[..., Worker], note: Note) -> None:
    worker = started("resnet", 1024, data_path="resident", batch_size=256, precision="bf16")
    profile = told(worker.profiled(), note, "resnet-50, bf16, batch 256")
    assert profile.work_ms / profile.step_ms > 0.8
    assert profile.tensor_core_ms is not None
    assert profile.tensor_core_ms > 0.2 * profile.work_ms
    assert {"convolution", "normalisation", "elementwise", "optimizer"} <= set(profile.work)


def test_bursts_cost_little(started: Callable[..., Worker], note: Note) -> None:
    speeds = []
    for every_s in (None, 2.0, None):
        worker = started("lasagne-mlp", 100_000, every_s=every_s, data_path="resident")
        reports = worker.steady(at_least=24)
        wall_s = reports[-1].at - reports[0].at
        bursts = sum(report.profile is not None for report in reports[1:])
        speeds.append((reports[-1].step - reports[0].step) / wall_s)
        if every_s:
            assert bursts >= 1
            made = bursts / wall_s
        worker.process.stop()
    lost = 1 - speeds[1] / ((speeds[0] + speeds[2]) / 2)
    note("lasagne-mlp: a burst costs", lost / made * 1e3, "ms")
    note("  of training speed, every 30 s", lost / made / 30 * 100, "%")
    note("  the profiler's attachment and bursts every 2 s", lost * 100, "%")
    assert lost / made / 30 < 0.01
