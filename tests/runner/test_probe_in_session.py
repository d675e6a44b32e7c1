"""Ceilings in a session: measured on demand, recorded, kept, and known to the next session from its start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fake_session import (
    FakeTelemetry,
    Start,
    change_and_wait,
    entries,
    messages,
    recorded,
)
from fake_worker import EXITED, made_up_ceilings, until
from gputrain_runner.feed import Refused
from gputrain_runner.paths import probes_folder
from gputrain_runner.session import Session
from gputrain_runner.timeline import Message

BOTH = ("--devices", "cuda:0,cpu")


def known(session: Session) -> set[str]:
    return set(session.header.probe or {})


def probe_and_wait(session: Session) -> None:
    session.probe()
    until(lambda: any(text.startswith("ceilings of cpu") for text in messages(session)))


def test_it_measures_the_device_that_trains_and_the_host(start: Start) -> None:
    session = start(*BOTH)
    assert session.header.probe is None
    probe_and_wait(session)
    assert known(session) == {"cuda:0", "cpu"}
    assert [text for text in messages(session) if "prob" in text or "ceilings" in text] == [
        "probing cuda:0 and cpu, about 20 s: training waits",
        "ceilings of cuda:0: fp32 1.00 TFLOP/s",
        "ceilings of cpu: fp32 1.00 TFLOP/s",
    ]
    assert session.state == "running"
    change_and_wait(session, "batch_size", 2048)


def test_on_a_cpu_it_measures_that_alone(start: Start) -> None:
    session = start()
    probe_and_wait(session)
    assert known(session) == {"cpu"}


def test_a_recording_has_it_from_the_moment_it_is_known(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    session = start(*BOTH, record=path)
    assert recorded(path)["probe"] is None
    probe_and_wait(session)
    during = recorded(path)
    assert during["probe"]["cuda:0"]["matmul_flops_per_s"]["fp32"]["median"] == 1e12
    assert during["timeline"][-1]["text"] == "ceilings of cpu: fp32 1.00 TFLOP/s"
    change_and_wait(session, "batch_size", 2048)
    session.stop()
    document = recorded(path)
    assert set(document["probe"]) == {"cuda:0", "cpu"}
    assert document["summary"]["changes"] == 1
    assert [entry["kind"] for entry in document["timeline"]].count("change") == 1


def test_the_next_session_knows_it_from_its_start(start: Start, telemetry: FakeTelemetry) -> None:
    telemetry.reading = replace(telemetry.reading, driver="570.86")
    probe_and_wait(start(*BOTH))
    assert len(list(probes_folder().iterdir())) == 2
    later = start(*BOTH)
    assert known(later) == {"cuda:0", "cpu"}
    assert (later.header.probe or {})["cuda:0"] == made_up_ceilings("cuda:0")
    assert not any("probing" in text for text in messages(later))


def test_what_was_kept_of_a_gpu_waits_for_the_drivers_version(start: Start, telemetry: FakeTelemetry) -> None:
    probe_and_wait(start(*BOTH))
    later = start(*BOTH)
    assert known(later) == {"cpu"}
    telemetry.reading = replace(telemetry.reading, driver="575.00")
    change_and_wait(later, "batch_size", 2048)
    until(lambda: later.header.host.driver == "575.00")
    assert known(later) == {"cpu"}
    telemetry.reading = replace(telemetry.reading, driver="570.86")
    change_and_wait(later, "batch_size", 4096)
    until(lambda: known(later) == {"cuda:0", "cpu"})


def test_before_training_where_it_is_asked_for(start: Start) -> None:
    session = start(*BOTH, probe=True)
    assert known(session) == {"cuda:0", "cpu"}
    told = [entry for entry in entries(session) if isinstance(entry, Message)]
    assert [entry.text.split(":")[0] for entry in told][:4] == [
        "probing cuda",
        "ceilings of cuda",
        "ceilings of cpu",
        "seed 0",
    ]


def test_it_is_measured_anew_though_it_was_kept(start: Start) -> None:
    probe_and_wait(start())
    again = start(probe=True)
    assert messages(again)[0] == "probing cpu, about 10 s: training waits"


def test_it_is_refused_with_a_reason(start: Start) -> None:
    session = start("--mute-probe")
    session.probe()
    with pytest.raises(Refused, match="measured already: training waits"):
        session.probe()
    session.change("batch_size", EXITED)
    until(lambda: session.state == "died")
    with pytest.raises(Refused, match="the worker has ended: press r"):
        session.probe()
    session.restart()
    until(lambda: session.state == "running")
    session.probe()
    session.stop()
    with pytest.raises(Refused, match="the training has ended"):
        session.probe()


def test_not_before_training_has_begun(start: Start) -> None:
    session = start("--deaf", "--devices", "", running=False)
    with pytest.raises(Refused, match="training has not begun yet"):
        session.probe()


def test_a_device_that_could_not_be_measured_is_told(start: Start) -> None:
    session = start("--devices", "cuda:0")
    session.probe()
    until(lambda: "probe of cpu: there is no device cpu here" in messages(session))
    assert known(session) == {"cuda:0"}
    session.probe()  # It is not under way any more.


def test_a_place_that_cannot_be_used_costs_only_the_keeping(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    probe_and_wait(session)
    until(lambda: any("not kept for the next session" in text for text in messages(session)))
    assert known(session) == {"cpu"}
