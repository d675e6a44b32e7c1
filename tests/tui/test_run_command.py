"""`gputrain-tui run`: real runs of a small network, and how they end."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import psutil
import pytest

from gputrain_runner.schema import recording_schema
from terminal import Terminal

PROGRAM = Path(sys.executable).parent / "gputrain-tui"

PRESET = """
name = "small"
title = "a small network"
origin = "made for a test"
batch_size = 64
[model]
family = "mlp"
inputs = 8
outputs = 2
activation = "relu"
default_size = "x1"
sizes = [{name = "x1", hidden = [8]}, {name = "x2", hidden = [16]}]
[data]
kind = "teacher"
training_samples = 2000
validation_samples = 200
[loss]
kind = "mse"
[optimizer]
kind = "sgd"
lr = 0.1
"""


@pytest.fixture
def preset(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(PRESET)
    return str(path)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A default place of the test's own; one thread, which is all that so small a network can use."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [PROGRAM, "run", *arguments],
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def training(*arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """A run that has begun to train; ended if it still goes on at the end."""
    with subprocess.Popen(
        [PROGRAM, "run", *arguments, "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if line.startswith("training on cpu"):
                    break
            yield process
        finally:
            process.kill()


def checked_recording(path: Path) -> dict[str, Any]:
    """The recording, which follows the schema."""
    recording: dict[str, Any] = json.loads(path.read_text())
    jsonschema.validate(recording, recording_schema())
    return recording


def of_kind(recording: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [entry for entry in recording["timeline"] if entry["kind"] == kind]


def test_one_command_is_a_reproducible_experiment(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    arguments = [preset, "--device", "cpu", "--steps", "600", "--at", "300:batch_size=128", "--json"]

    done = run(*arguments, "--record", str(path))

    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    recording = checked_recording(path)
    assert recording["summary"] == summary
    assert recording["session"]["command"] == ["gputrain-tui", "run", *arguments, "--record", str(path)]
    assert (summary["ended"], summary["steps"], summary["changes"]) == ("finished", 600, 1)
    assert summary["loss_last"] < summary["loss_first"]
    (change,) = of_kind(recording, "change")
    assert (change["step"], change["setting"], change["from"], change["to"]) == (300, "batch_size", 64, 128)
    assert change["ok"]
    measured = [sample for sample in of_kind(recording, "sample") if sample["step_ms"] is not None]
    assert measured
    for sample in measured:
        phases = sum(phase["host_ms"] for phase in sample["phases"].values())
        assert phases == pytest.approx(sample["step_ms"]["mean"], rel=0.01)
    told = done.stderr.splitlines()
    assert told[0] == f"recording to {path}"
    assert told[1].startswith("training on cpu, size x1, batch ")
    assert any("step 300: batch 64 → 128" in line for line in told)
    assert "\x1b" not in done.stderr


def test_people_get_a_summary_and_the_recording_its_default_place(preset: str, tmp_path: Path) -> None:
    done = run(preset, "--epochs", "2", "--record")

    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "state" / "gputrain-tui" / "sessions").iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    assert checked_recording(path)["summary"]["epochs"] == 2
    assert f"recording to {path}" in done.stderr
    result = dict(line.split("  ", 1) for line in done.stdout.splitlines())
    assert list(result) == ["small", "steps", "samples/s", "loss", "validation loss", "recording"]
    assert result["recording"].strip() == str(path)
    assert result["steps"].strip() == "64, epochs 2, samples 4,000"


def test_nobody_watching_does_not_end_a_run(preset: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = run(preset, "--steps", "50", "--json", stderr=writing)

    os.close(writing)
    assert done.returncode == 0
    assert json.loads(done.stdout)["steps"] == 50


@pytest.mark.terminal
def test_a_terminal_shows_a_bar_and_one_ctrl_c_ends_it_well(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    command = [str(PROGRAM), "run", preset, "--device", "cpu", "--record", str(path)]
    with Terminal(command, columns=100) as terminal:
        shown = terminal.wait_for(r"small ━+ step [\d,]+  epoch \d+  \S+( k| M)? samples/s  loss 0\.\d+")
        assert f"recording to {path}" in "".join(shown.split("\n"))
        (worker,) = psutil.Process(terminal.pid).children()

        terminal.send("\x03")

        assert terminal.wait_end() == 130
        assert "small            interrupted after 00:00:" in terminal.text
        assert not worker.is_running()
    assert checked_recording(path)["summary"]["ended"] == "interrupted"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_complete_the_recording(
    number: signal.Signals, code: int, preset: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    with training(preset, "--record", str(path), "--json") as process:
        (worker,) = psutil.Process(process.pid).children()

        process.send_signal(number)

        out, _ = process.communicate(timeout=30)
        assert process.returncode == code
        assert not worker.is_running()
    assert json.loads(out)["ended"] == "interrupted"
    assert checked_recording(path)["summary"] == json.loads(out)


def test_a_worker_that_dies_is_one_line_and_exit_code_1(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with training(preset, "--record", str(path), "--json") as process:
        (worker,) = psutil.Process(process.pid).children()

        worker.kill()

        out, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("gputrain-tui run: worker killed by SIGKILL")
    assert err.count("SIGKILL") == 1
    summary = checked_recording(path)["summary"]
    assert summary == json.loads(out)
    assert summary["ended"] == "failed"
    assert summary["error"].startswith("worker killed by SIGKILL")


def test_a_device_that_is_not_there_is_the_command_lines_mistake(preset: str) -> None:
    done = run(preset, "--device", "cuda:99", "--steps", "1", "--json")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gputrain-tui run: device: found 'cuda:99', allowed: ")
    assert done.stderr.count("\n") == 1


def test_files_that_are_no_data_are_the_command_lines_mistake(tmp_path: Path) -> None:
    done = run("keras-mnist-mlp", "--data", str(tmp_path), "--steps", "1")

    assert (done.returncode, done.stdout) == (2, "")
    assert str(tmp_path) in done.stderr
    assert done.stderr.count("\n") == 1
