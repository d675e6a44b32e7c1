"""What bursts of profiled steps cost on a real GPU: of training speed, with and without them."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from fake_worker import until
from gputrain_presets import load
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import Progress, Report, Said, Start
from training_presets import small

Note = Callable[[str, float, str], None]

EVERY_S = 2.0
REPORTS = 20


def steady_reports(every_s: float | None) -> list[Progress]:
    """Of the tiny network on the GPU, with bursts so often."""
    preset = structs.replace(small("lasagne-mlp", 100_000, 0), batch_size=load("lasagne-mlp").batch_size)
    wanted = structs.replace(settings.initial(preset, "cuda:0"), data_path="resident")
    heard: list[Report] = []

    def steady() -> list[Progress]:
        return [report for report in heard if isinstance(report, Progress) and report.steady]

    worker = WorkerProcess()
    try:
        worker.attach(heard.append, lambda _: None)
        worker.send(Start(preset=preset, settings=wanted, profile_every_s=every_s))
        until(lambda: len(steady()) >= REPORTS, 90)
    finally:
        worker.stop()
    assert [report.text for report in heard if isinstance(report, Said) and report.level == "warning"] == []
    return steady()


def test_bursts_cost_little(note: Note) -> None:
    speeds, bursts_per_s = [], 0.0
    for every_s in (None, EVERY_S, None):
        reports = steady_reports(every_s)
        wall_s = reports[-1].at - reports[0].at
        speeds.append((reports[-1].step - reports[0].step) / wall_s)
        if every_s:
            bursts = sum(report.profile is not None for report in reports[1:])
            assert bursts >= 1
            bursts_per_s = bursts / wall_s
    lost = 1 - speeds[1] / ((speeds[0] + speeds[2]) / 2)
    note("lasagne-mlp: a burst costs", lost / bursts_per_s * 1e3, "ms")
    note("  of training speed, every 30 s", lost / bursts_per_s / 30 * 100, "%")
    note("  the profiler's attachment and bursts every 2 s", lost * 100, "%")
    assert lost / bursts_per_s / 30 < 0.01
