"""`gputrain-tui run`: real runs of a small network, and how they end."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import psutil
import pytest

from headless import PROGRAM, checked_recording, isolate, of_kind, run, training, write_preset
from terminal import Terminal


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    isolate(tmp_path, monkeypatch)
    return write_preset(tmp_path)


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


def test_two_quick_ctrl_c_leave_summary_and_recording(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    with training(preset, "--record", str(path), "--json") as process:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)

        out, _ = process.communicate(timeout=30)
        assert process.returncode == 130
    assert json.loads(out)["ended"] == "interrupted"
    assert checked_recording(path)["summary"] == json.loads(out)


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_ctrl_c_while_pytorch_is_loaded_is_said_and_ends_it_well(
    json_too: list[str], preset: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    command = [str(PROGRAM), "run", preset, "--device", "cpu", "--record", str(path), *json_too]
    with subprocess.Popen(
        [*command, "--at", "9:batch_size=8"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"recording to {path}\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    said, unreached = err.splitlines()
    assert re.fullmatch(r"interrupted after 00:00:\d\d, before the first step", said)
    assert unreached == "--at 9:batch_size=8 was never reached: the run ended after 0 steps"
    summary = checked_recording(path)["summary"]
    assert (summary["ended"], summary["steps"]) == ("interrupted", 0)
    assert out == "" if not json_too else json.loads(out) == summary


def test_what_an_encoding_lacks_is_written_in_ascii(preset: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}

    done = run(preset, "--device", "cpu", "--steps", "9", "--at", "3:model_size=x2", env=environment)

    assert done.returncode == 0, done.stderr
    assert "step 3: size x1 -> x2, in " in done.stderr
    assert " -> " in dict(line.split("  ", 1) for line in done.stdout.splitlines())["loss"]


@pytest.mark.terminal
def test_eighty_columns_hold_a_bar_and_what_tells_most(preset: str) -> None:
    command = [str(PROGRAM), "run", preset, "--device", "cpu", "--steps", "90000"]
    with Terminal(command, columns=80) as terminal:
        shown = terminal.wait_for(
            r"small ━{8,} step [\d,]+ of 90,000  \S+( k| M)?(/s| samples/s)  loss 0\.\d+  \d"
        )
        assert max(len(line) for line in shown.split("\n")) <= 80
        terminal.send("\x03")
        assert terminal.wait_end() == 130


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


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_a_gpu_that_is_not_there_is_explained(device: str, preset: str) -> None:
    # An empty list hides the GPUs of a machine that has some.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}

    done = run(preset, "--device", device, "--steps", "1", env=environment)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gputrain-tui run: device: found 'cuda:0', allowed: cpu; ")
    why = (
        "built without CUDA: install ",
        "CUDA_VISIBLE_DEVICES is '' and hides",
        "there is no NVIDIA driver: install",
    )
    assert any(text in done.stderr for text in why)
    assert done.stderr.count("\n") == 1


def test_settings_that_cannot_work_here_are_the_command_lines_mistake(preset: str) -> None:
    done = run(preset, "--device", "cpu", "--set", "execution=graph", "--steps", "1")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("gputrain-tui run: execution graph needs a CUDA GPU: ")
    assert done.stderr.count("\n") == 1


def test_files_that_are_no_data_are_the_command_lines_mistake(tmp_path: Path) -> None:
    done = run("keras-mnist-mlp", "--data", str(tmp_path), "--steps", "1")

    assert (done.returncode, done.stdout) == (2, "")
    assert str(tmp_path) in done.stderr
    assert done.stderr.count("\n") == 1
