"""Sessions, with a worker that only says it trains: what is shown from their start on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fake_session import (
    Clock,
    FakeTelemetry,
    Start,
    change_and_wait,
    changes,
    entries,
    messages,
    recorded,
    steady,
)
from fake_worker import BEGAN, fake_worker, tiny_preset, until
from gputrain_runner.options import SessionOptions
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import ScheduledChange
from gputrain_runner.recorder import RecordingExistsError
from gputrain_runner.session import Session
from gputrain_runner.settings import SettingError, Settings
from gputrain_runner.telemetry.reading import Reading
from gputrain_runner.timeline import HostLoad, Message, Sample


def test_a_run_from_start_to_end_is_recorded(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    scheduled = [ScheduledChange(step=150, setting="batch_size", to=4096)]
    session = start(record=path, steps=300, scheduled=scheduled, seed=7, command=["gputrain-tui", "run"])
    assert session.wait(20)
    document = recorded(path)
    assert session.state == "finished" and session.recording is None
    header, timeline, summary = document["session"], document["timeline"], document["summary"]
    assert header["settings"]["device"] == "cpu" and header["data"] == "synthetic stand-in"
    assert header["preset"]["model"]["family"] == "mlp" and header["command"] == ["gputrain-tui", "run"]
    assert (document["host"]["torch"], document["devices"][0]["device"]) == ("2.99.0", "cpu")
    kinds = [entry["kind"] for entry in timeline]
    assert (kinds.count("change"), kinds.count("effect")) == (1, 1)
    effect = timeline[kinds.index("effect")]
    assert timeline[effect["change"]]["to"] == 4096 and timeline[effect["change"]]["step"] == 150
    assert effect["ratio"] == pytest.approx(4.0, rel=0.02)
    assert effect["ratio_low"] <= effect["ratio"] <= effect["ratio_high"]
    assert timeline[0]["text"] == "seed 7"
    assert summary["ended"] == "finished" and summary["error"] is None
    assert (summary["steps"], summary["epochs"], summary["changes"], summary["effects"]) == (300, 3, 1, 1)
    assert summary["samples_per_s"] == pytest.approx(4096 * 40)
    assert (summary["loss_first"], summary["loss_last"]) == (3.5, 0.125)
    assert summary["validation"] == {"loss": 0.5 / 3, "accuracy": 0.9}
    assert session.stop("interrupted") == session.summary, "it had finished by itself"
    assert session.summary is not None and session.summary.ended == "finished"


def test_samples_join_the_steps_with_the_telemetry(start: Start, telemetry: FakeTelemetry) -> None:
    session = start()
    sample = steady(session)[-1]
    assert (sample.step, sample.epoch) == (150, 1)
    assert sample.t == pytest.approx(3.75)
    assert sample.gpus[0].utilisation == 0.75
    assert sample.host is not None and sample.host.cpu_utilisation == 0.5
    assert sample.phases is not None and sample.phases["forward"].host_ms == 10.0
    assert len(telemetry.watched) == 1 and telemetry.watched[0] is not None


def test_values_of_a_silent_driver_count_as_not_measured(
    start: Start, telemetry: FakeTelemetry, clock: Clock
) -> None:
    telemetry.reading = Reading(
        gpus=telemetry.reading.gpus, host=HostLoad(), gpu_absence=None, driver="999.1", age_s=60.0
    )
    session = start()
    gpu = steady(session)[-1].gpus[0]
    assert (gpu.uuid, gpu.utilisation) == ("GPU-cuda:0", None)
    assert session.header.host.driver == "999.1"


def test_a_worker_started_long_before_is_taken_as_it_is(clock: Clock) -> None:
    worker = fake_worker()()
    until(lambda: worker.hello is not None)
    session = Session(SessionOptions(preset=tiny_preset()), worker, clock=clock)
    assert session.settings.device == "auto"
    session.start()
    try:
        until(lambda: session.state == "running")
        assert session.settings.device == "cpu"
        assert steady(session) == [] or steady(session)[0].gpus == []
    finally:
        session.stop()


def test_a_listener_before_the_session_takes_nothing_from_it(clock: Clock) -> None:
    worker = fake_worker()()
    worker.attach(lambda report: None, lambda description: None)
    until(lambda: worker.hello is not None)
    session = Session(SessionOptions(preset=tiny_preset()), worker, clock=clock)
    session.start()
    try:
        until(lambda: session.state == "running")
    finally:
        session.stop()


@pytest.mark.parametrize(
    ("asked", "device"), [(None, "cuda:0"), ("cuda", "cuda:0"), ("cuda:1", "cuda:1"), ("cpu", "cpu")]
)
def test_the_device_is_the_best_or_the_one_asked_for(start: Start, asked: str | None, device: str) -> None:
    session = start("--devices", "cuda:0,cuda:1,cpu", device=asked)
    assert session.settings.device == device
    assert session.header.session.settings.device == device
    assert session.training_gpu == f"GPU-{device}"


def test_options_become_settings(start: Start) -> None:
    session = start(batch_size=128, model_size="large", overrides=[("batch_size", "256"), ("device", "cpu")])
    assert session.settings == Settings(device="cpu", batch_size=256, model_size="large", threads=2)


@pytest.mark.parametrize(
    "options",
    [
        {"device": "cuda:7"},
        {"overrides": [("device", "cuda:7")]},
        {"scheduled": [ScheduledChange(step=3, setting="device", to="cuda:7")]},
    ],
)
def test_a_device_that_is_not_there_is_the_users_error(
    start: Start, tmp_path: Path, options: dict[str, Any]
) -> None:
    path = tmp_path / "x.json"
    session = start("--devices", "cuda:0,cpu", running=False, record=path, **options)
    assert session.wait(20)
    assert (session.state, session.usage_error) == ("died", True)
    assert session.reason == "device: found 'cuda:7', allowed: cuda:0, cpu"
    summary = session.stop()
    assert (summary.ended, summary.error) == ("failed", session.reason)
    assert recorded(path)["summary"]["ended"] == "failed"


@pytest.mark.parametrize("options", [{"device": "cuda"}, {"overrides": [("device", "cuda:0")]}])
def test_where_it_may_fall_back_a_device_that_is_not_there_gives_way_with_a_warning(
    start: Start, options: dict[str, Any]
) -> None:
    session = start(falls_back=True, **options)
    assert (session.settings.device, session.header.session.settings.device) == ("cpu", "cpu")
    warnings = [
        entry for entry in entries(session) if isinstance(entry, Message) and entry.level == "warning"
    ]
    assert [warning.text for warning in warnings] == [
        "it trains on cpu: device: found 'cuda:0', allowed: cpu; no driver: install one"
    ]
    session.restart()
    until(lambda: session.state == "running")
    assert session.settings.device == "cpu"


def test_settings_that_cannot_work_on_the_device_are_the_users_error(start: Start) -> None:
    session = start(running=False, overrides=[("execution", "graph")])
    assert session.wait(20)
    assert (session.state, session.usage_error) == ("died", True)
    assert (session.reason or "").startswith("execution graph needs a CUDA GPU")


def test_where_it_may_fall_back_such_settings_give_way_with_a_warning_each(start: Start) -> None:
    overrides = [("precision", "tf32"), ("execution", "graph"), ("batch_size", "512")]
    session = start(falls_back=True, overrides=overrides)
    assert session.settings == Settings(device="cpu", batch_size=512, model_size="small", threads=2)
    told = [text for text in messages(session) if text.startswith("it trains with")]
    assert [text.partition(" needs ")[0] for text in told] == [
        "it trains with eager: execution graph",
        "it trains with fp32: precision tf32",
    ]


def test_times_never_fall_along_the_timeline(start: Start, clock: Clock) -> None:
    session = start()
    clock.now = BEGAN + 60.0
    session.tick()  # A sample of the host alone, later than the change that is asked for before it is known.
    clock.now = BEGAN + 30.0
    change_and_wait(session, "batch_size", 2048)
    times = [entry.t for entry in entries(session)]
    assert times == sorted(times)
    assert [change.t for change in changes(session)] == [60.0]


def test_wrong_options_start_nothing() -> None:
    def never() -> WorkerProcess:
        raise AssertionError("a worker was started")

    with pytest.raises(SettingError, match="batch_size: found '0'"):
        Session(SessionOptions(preset=tiny_preset(), batch_size=0), spawn=never)
    with pytest.raises(SettingError, match="no setting is called 'batchsize'; did you mean 'batch_size'"):
        Session(SessionOptions(preset=tiny_preset(), overrides=[("batchsize", "1")]), spawn=never)


def test_a_recording_that_cannot_be_made_ends_the_worker_it_started(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("precious")
    workers: list[WorkerProcess] = []

    def spawn() -> WorkerProcess:
        workers.append(fake_worker()())
        return workers[-1]

    with pytest.raises(RecordingExistsError):
        Session(SessionOptions(preset=tiny_preset(), record=tmp_path / "x.json"), spawn=spawn)
    until(lambda: not any(worker.running for worker in workers))
    assert (tmp_path / "x.json").read_text() == "precious"


def test_host_and_gpus_are_sampled_where_no_step_runs(start: Start, clock: Clock) -> None:
    session = start()
    count = len(entries(session))
    session.tick()
    assert len(entries(session)) == count
    clock.now += 1.0
    session.tick()
    session.tick()
    [idle] = entries(session)[count:]
    assert isinstance(idle, Sample)
    assert (idle.steady, idle.samples_per_s, idle.step) == (False, None, 150)
    assert idle.gpus[0].utilisation == 0.75
    clock.now += 1.0
    until(lambda: len(entries(session)) == count + 2)  # By itself, too.


def test_nothing_is_sampled_after_the_end(start: Start, clock: Clock) -> None:
    session = start()
    session.stop()
    count = len(entries(session))
    clock.now += 100.0
    session.tick()
    assert len(entries(session)) == count
    assert session.elapsed_s < 100.0
