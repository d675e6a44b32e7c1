"""The real program in a real terminal, worked by keys alone, at the smallest and at a large size."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from gputrain_runner.schema import recording_schema
from terminal import PROGRAM, Terminal

pytestmark = pytest.mark.terminal

SIZES = [(80, 24), (160, 48)]
CPU_ONLY = {"CUDA_VISIBLE_DEVICES": ""}


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture(params=SIZES, ids=["80x24", "160x48"])
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    columns, rows = request.param
    with Terminal([PROGRAM], columns=columns, rows=rows, environment=CPU_ONLY) as opened:
        yield opened


def read(path: Path) -> dict[str, Any]:
    """A recording, valid against the schema."""
    recording: dict[str, Any] = json.loads(path.read_text())
    jsonschema.validate(recording, recording_schema())
    return recording


def recordings(state_home: Path) -> list[Path]:
    return sorted((state_home / "gputrain-tui" / "sessions").glob("*.json"))


def worker_of(pid: int) -> psutil.Process:
    for child in psutil.Process(pid).children():
        if any("gputrain_runner.worker" in word for word in child.cmdline()):
            return child
    raise AssertionError("the app has no worker")


def samples_per_s(text: str) -> float:
    found = re.search(r"samples/s +([\d,.]+)", text)
    return float(found[1].replace(",", "")) if found else 0.0


def test_the_whole_job_by_keys(terminal: Terminal, state_home: Path) -> None:
    terminal.wait_for("lasagne-mlp")
    terminal.send("mnist")
    terminal.wait_for(lambda text: "keras-mnist-mlp" in text and "lasagne-mlp" not in text)
    terminal.send("\r")
    terminal.wait_for(lambda text: samples_per_s(text) > 0, timeout_s=60)
    terminal.send("c")
    terminal.wait_for("REC")
    terminal.wait_for("steady|IQR|step +[\\d.]+", timeout_s=60)
    time.sleep(2.0)  # Let steady samples come together: what is waited for is time itself.
    terminal.send("b")
    terminal.wait_for("batch *(size)? *256")
    terminal.wait_for("batch 128 → 256 +×[\\d.]+", timeout_s=60)
    terminal.send("d")
    terminal.wait_for("cpu is the only one here")
    terminal.send("m")
    terminal.wait_for("size 750 → 1000|model size +1000|m size 1000", timeout_s=60)
    terminal.send("3")
    time.sleep(3.0)  # As above.
    terminal.send("q")
    assert terminal.wait_end() == 0
    [path] = recordings(state_home)
    recording = read(path)
    timeline = recording["timeline"]
    changes = [entry for entry in timeline if entry["kind"] == "change"]
    assert [(change["setting"], change["to"], change["ok"]) for change in changes] == [
        ("batch_size", 256, True),
        ("model_size", "1000", True),
    ]
    assert [entry["kind"] for entry in timeline].count("sample") > 10
    effects = [entry for entry in timeline if entry["kind"] == "effect"]
    assert effects
    assert timeline[effects[0]["change"]]["setting"] == "batch_size"
    assert recording["summary"]["ended"] == "finished"
    assert "synthetic" in recording["session"]["data"]


def test_keys_in_one_burst_are_taken_in_their_order(tmp_path: Path) -> None:
    with Terminal([PROGRAM], environment=CPU_ONLY) as terminal:
        terminal.wait_for("lasagne-mlp")
        terminal.send("xq\x7f\x7fker")
        terminal.wait_for("filter: ker")
        terminal.send("\x1b")
        terminal.wait_for("type to filter")
        terminal.send("open\r")
        terminal.wait_for("Open a file")
        terminal.send("nowhere\x7f\x7f.toml\r")
        terminal.wait_for(r"\./nowhe\.toml: there is no such file")


def test_ctrl_c_completes_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    arguments = [PROGRAM, "--preset", "lasagne-mlp", "--record", str(path)]
    with Terminal(arguments, environment=CPU_ONLY) as terminal:
        terminal.wait_for(lambda text: samples_per_s(text) > 0, timeout_s=60)
        worker = worker_of(terminal.pid)
        terminal.send("\x03")
        assert terminal.wait_end() == 130
        worker.wait(5)
    summary = read(path)["summary"]
    assert summary["ended"] == "interrupted"
    assert summary["steps"] > 0


def test_a_killed_worker_is_told_and_started_anew(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    arguments = [PROGRAM, "--preset", "lasagne-mlp", "--record", str(path)]
    with Terminal(arguments, environment=CPU_ONLY) as terminal:
        terminal.wait_for(lambda text: samples_per_s(text) > 0, timeout_s=60)
        killed = worker_of(terminal.pid)
        killed.kill()
        terminal.wait_for("SIGKILL")
        terminal.send("r")
        terminal.wait_for(lambda text: "SIGKILL" not in text and samples_per_s(text) > 0, timeout_s=60)
        assert worker_of(terminal.pid).pid != killed.pid
        terminal.send("q")
        assert terminal.wait_end() == 0
    recording = read(path)
    assert recording["summary"]["ended"] == "finished"
    assert any("SIGKILL" in entry["text"] for entry in recording["timeline"] if entry["kind"] == "message")


def test_a_killed_app_leaves_a_readable_recording_and_no_worker(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    arguments = [PROGRAM, "--preset", "lasagne-mlp", "--record", str(path)]
    with Terminal(arguments, environment=CPU_ONLY) as terminal:
        terminal.wait_for(lambda text: samples_per_s(text) > 0, timeout_s=60)
        worker = worker_of(terminal.pid)
        time.sleep(random.Random(1).uniform(0, 0.5))  # A moment that nothing is tuned to.
        os.kill(terminal.pid, signal.SIGKILL)
        assert terminal.wait_end() == -signal.SIGKILL
        worker.wait(5)
    recording = read(path)
    assert recording["timeline"]
    assert "summary" not in recording
