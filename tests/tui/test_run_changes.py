"""`gputrain-tui run --at`: what is changed before a step, and where a run ends within its epochs."""

import json
from pathlib import Path

import pytest

from headless import checked_recording, isolate, of_kind, run, write_preset

GRAPH = "execution graph needs a CUDA GPU: a graph replays kernels without the host, a CPU has none"


@pytest.fixture
def preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    isolate(tmp_path, monkeypatch)
    return write_preset(tmp_path)


def test_changes_before_the_same_step_take_effect_together(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    changes = ["9:batch_size=128", "9:precision=bf16", "9:model_size=x2", "10:batch_size=32"]
    at = [word for change in changes for word in ("--at", change)]

    done = run(preset, "--device", "cpu", "--steps", "12", *at, "--record", str(path), "--json")

    assert done.returncode == 0, done.stderr
    recording = checked_recording(path)
    made = [(change["step"], change["setting"], change["ok"]) for change in of_kind(recording, "change")]
    assert made == [
        (9, "batch_size", True),
        (9, "precision", True),
        (9, "model_size", True),
        (10, "batch_size", True),
    ]
    assert recording["summary"]["samples"] == 9 * 64 + 128 + 2 * 32


def test_of_changes_together_the_one_that_cannot_be_made_is_named(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    at = ["--at", "3:execution=graph", "--at", "3:batch_size=128", "--at", "4:batch_size=128"]

    done = run(preset, "--device", "cpu", "--steps", "6", *at, "--record", str(path), "--json")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"gputrain-tui run: --at 3:execution=graph could not be made: {GRAPH}; training went on without it"
    )
    assert json.loads(done.stdout)["ended"] == "finished"
    recording = checked_recording(path)
    assert recording["summary"] == json.loads(done.stdout)
    larger, graph = of_kind(recording, "change")
    assert (larger["step"], larger["setting"], larger["ok"]) == (3, "batch_size", True)
    assert (graph["step"], graph["setting"], graph["ok"]) == (3, "execution", False)
    assert graph["error"].startswith("execution graph needs a CUDA GPU")
    assert recording["summary"]["samples"] == 3 * 64 + 3 * 128
    assert any(
        "step 4: batch size is 128 already, nothing to change" in line for line in done.stderr.splitlines()
    )


def test_changes_that_are_never_reached_are_told_and_no_error(preset: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    # An epoch of 2,000 samples has 32 batches of 64.
    changes = ["31:batch_size=32", "33:batch_size=16", "5000:precision=bf16"]
    at = [word for change in changes for word in ("--at", change)]

    done = run(preset, "--device", "cpu", "--epochs", "1", *at, "--record", str(path), "--json")

    assert done.returncode == 0, done.stderr
    missed = "--at 33:batch_size=16, --at 5000:precision=bf16 were never reached"
    steps = json.loads(done.stdout)["steps"]
    assert done.stderr.splitlines()[-1] == f"{missed}: the run ended after {steps} steps"
    assert [change["step"] for change in of_kind(checked_recording(path), "change")] == [31]


def test_a_change_without_effect_is_told_so(preset: str) -> None:
    done = run(preset, "--device", "cpu", "--steps", "6", "--at", "3:workers=1")

    assert done.returncode == 0, done.stderr
    told = "loader workers 1 alters nothing now: only the data path loader has them, and host is in force"
    assert told in done.stderr


@pytest.mark.parametrize("steps", [31, 32, 33])
def test_an_epoch_that_ends_with_the_last_step_counts_with_its_validation(
    steps: int, preset: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"

    done = run(preset, "--device", "cpu", "--steps", str(steps), "--record", str(path), "--json")

    summary = json.loads(done.stdout)
    assert summary["steps"] == steps
    assert summary["epochs"] == (steps >= 32)  # 2,000 samples are 31 batches of 64 and one of 16.
    assert (summary["validation"] is not None) == (steps >= 32)
    assert of_kind(checked_recording(path), "sample")[-1]["epoch"] == summary["epochs"]
