"""A recording as a trace that Perfetto opens."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile
from gputrain_runner.report.trace_events import TRACKS, write_trace
from gputrain_runner.timeline import Sample
from report_recordings import TURNS, write_session
from timelines import header, sample
from trace_rules import checked


def trace(*paths: Path) -> list[dict[str, Any]]:
    file = io.StringIO()
    count = write_trace(paths, file)
    events = checked(file.getvalue())
    assert len(events) == count
    return events


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_session(tmp_path_factory.mktemp("trace") / "x.json", 40.0)


def track(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    tids = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == name
    }
    return [event for event in events if event["ph"] != "M" and (event["pid"], event["tid"]) in tids]


def test_every_track_has_a_name(session: Path) -> None:
    events = trace(session)
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert names == list(TRACKS)
    process = next(event for event in events if event["name"] == "process_name")
    assert process["args"]["name"] == "keras-mnist-mlp (x.json)"


def test_samples_are_windows_one_after_another(session: Path) -> None:
    windows = [event for event in track(trace(session), "samples") if event["ph"] == "X"]
    samples = [entry for entry in RecordingFile(session).entries() if isinstance(entry, Sample)]
    assert len(windows) == len(samples)
    assert sum(window["args"]["steps"] for window in windows) == samples[-1].step
    for window, told in zip(windows, samples, strict=True):
        assert window["ts"] + window["dur"] == pytest.approx(told.t * 1e6, abs=1)


def test_steps_and_phases_are_marked_as_means_and_lie_within_their_step(session: Path) -> None:
    host = track(trace(session), "host: a step of mean length, and its phases")
    assert {event["name"] for event in host if "(mean)" in event["name"]} == {
        f"{name} (mean)" for name in ("data", "h2d", "forward", "backward", "optimizer", "other")
    }
    steps = [event for event in host if event["name"].startswith("step")]
    assert steps and all("mean of" in step["name"] and step["args"]["mean_of_steps"] > 0 for step in steps)
    first = steps[0]
    phases = [event for event in host if "(mean)" in event["name"]][:6]
    assert sum(phase["dur"] for phase in phases) == pytest.approx(first["dur"], abs=0.02)
    assert first["dur"] == pytest.approx(first["args"]["mean_ms"] * 1e3, abs=0.01)
    assert track(trace(session), "device: a step's phases, means")


def test_a_step_longer_than_its_window_is_drawn_smaller_and_says_so(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json", header(torch="2.13"))
    recorder.write(0, structs.replace(sample(0.01), step=1))
    host = track(trace(tmp_path / "x.json"), "host: a step of mean length, and its phases")
    assert host[0]["dur"] == pytest.approx(10_000) and host[0]["args"]["mean_ms"] == 25.0
    assert host[0]["args"]["drawn_at_scale"] == pytest.approx(0.4)


def test_changes_are_instants_and_settings_and_verdicts_slices(session: Path) -> None:
    events = trace(session)
    changes = [event for event in track(events, "changes") if "effect" not in event["name"]]
    assert [event["ph"] for event in changes] == ["i"] * len(TURNS)
    assert changes[0]["name"] == "batch_size 128 → 256" and changes[0]["args"]["to"] == 256
    assert changes[-1]["name"].startswith("failed: ") and "out of memory" in changes[-1]["args"]["error"]
    assert any(event["name"] == "effect of execution eager → graph: ×3.6" for event in events)
    settings = track(events, "settings")
    assert len(settings) == 1 + sum(ok for *_, ok in TURNS)
    assert sum(event["dur"] for event in settings) == pytest.approx(40e6, rel=1e-6)
    verdicts = [event["name"] for event in track(events, "verdicts")]
    assert list(dict.fromkeys(verdicts)) == ["launch-bound", "compute-bound"]
    assert track(events, "messages")


def test_counters_hold_what_was_measured_alone(session: Path) -> None:
    counters: dict[str, set[str]] = {}
    for event in trace(session):
        if event["ph"] == "C":
            counters.setdefault(event["name"], set()).update(event["args"])
    assert counters["samples/s"] == {"samples/s"}
    assert counters["GPU 0 shares"] == {"utilisation", "SM active", "tensor active", "DRAM active"}
    assert {"GPU 1 memory, bytes", "GPU 0 PCIe, bytes/s", "CPU utilisation", "busy"} <= set(counters)


def test_several_recordings_are_processes_of_one_trace(session: Path, tmp_path: Path) -> None:
    events = trace(session, write_session(tmp_path / "y.json", 5.0))
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert names == ["keras-mnist-mlp (x.json)", "keras-mnist-mlp (y.json)"]
    assert {event["pid"] for event in events} == {1, 2}
