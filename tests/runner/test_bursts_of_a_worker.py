"""Bursts in a worker as a session starts it."""

from __future__ import annotations

from fake_worker import until
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import ChangeSetting, Finished, Progress, Report, Start, Stop
from training_presets import small


def test_a_worker_profiles_its_steps_and_again_after_a_change() -> None:
    heard: list[Report] = []
    ended: list[str | None] = []
    worker = WorkerProcess()
    worker.attach(heard.append, ended.append)
    preset = small("lasagne-mlp")
    worker.send(Start(preset=preset, settings=settings.initial(preset, "cpu").with_value("threads", 1)))

    def profiled() -> list[Progress]:
        return [report for report in heard if isinstance(report, Progress) and report.profile is not None]

    until(lambda: len(profiled()) == 1, 60)
    worker.send(ChangeSetting(setting="batch_size", to=512, asked_at=0.0))
    until(lambda: len(profiled()) == 2, 60)
    worker.send(Stop())
    until(lambda: bool(ended), 20)
    before, after = (report.profile for report in profiled())
    assert [report.settings.batch_size for report in profiled()] == [64, 512]
    assert before is not None
    assert after is not None
    # Of 512 samples an epoch has three batches, in the first of which the profiler warms up.
    assert (before.steps, after.steps) == (5, 2)
    for profile in (before, after):
        assert 0 < profile.work_ms <= profile.step_ms
    # Eight times the samples are more work in the same number of operators.
    assert after.work_ms > before.work_ms
    assert after.launches == before.launches
    assert isinstance(heard[-1], Finished)
    assert ended == [None]
    # What the profiler says of itself is not taken for the worker's last words.
    assert not [line for line in worker.log_tail() if "profiler" in line.lower()]
