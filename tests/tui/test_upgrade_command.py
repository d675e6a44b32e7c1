"""`gputrain-tui upgrade` as users run it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def upgrade(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gputrain_tui", "upgrade", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_two_cards_are_compared_without_training() -> None:
    done = upgrade("vgg", "--from", "Titan X Maxwell", "--to", "GTX 1080,H200", "--seconds", "0", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["from"] == {
        "name": "GeForce GTX Titan X (Maxwell)",
        "step_ms": pytest.approx(told["from"]["step_ms"]),
        "measured": False,
    }
    launch, data, copies = told["assumed"]
    assert launch.startswith("8 µs (5–15) to start each of a step's 74 operations (")
    assert data.startswith("0 ms to put a batch together") and copies.startswith("copies at 35 % of")
    gtx, h200 = told["cards"]
    assert gtx["card"] == "GeForce GTX 1080" and 1.0 < gtx["ratio"]["likely"] < 1.35
    assert h200["ratio"]["likely"] > 5
    assert h200["ratio"]["low"] <= h200["ratio"]["likely"] <= h200["ratio"]["high"]


def test_what_is_assumed_without_measuring_is_said() -> None:
    done = upgrade("vgg", "--from", "Titan X Maxwell", "--to", "GTX 1080", "--seconds", "0")
    assert done.returncode == 0, done.stderr
    head, launch, data, copies, gap = done.stdout.partition("assumed in host ms")[2].splitlines()[:5]
    assert head == ", as --seconds 0 measures nothing here:"
    assert "8 µs" in launch and "0 ms" in data and "35 %" in copies and gap == ""
    alone = ["--from", "GTX 1080", "--set", "execution=graph", "--set", "data_path=resident"]
    done = upgrade("vgg", "--to", "H200", "--seconds", "0", *alone)
    told = done.stdout.partition("assumed in host ms")[2].splitlines()
    assert "20 µs to start a step as a whole, as one CUDA graph" in told[1]
    assert "0 ms to put a batch together" in told[2] and told[3] == ""


def test_the_machine_at_hand_is_measured_first() -> None:
    done = upgrade("lasagne-mlp", "--device", "cpu", "--to", "H200", "--seconds", "2")
    assert done.returncode == 0, done.stderr
    assert "measured" in done.stdout and "H200 SXM would give" in done.stdout
    assert "training lasagne-mlp here for 2 s" in done.stderr
    # Of a GPU's starts a CPU says nothing; how long the batches take was measured.
    assert (
        "assumed in host ms, as a run on cpu starts nothing on a GPU:\n  8 µs (5–15) to start" in done.stdout
    )
    assert "to put a batch together (" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vgg"], "--to is missing"),
        ([], "the preset is missing"),
        (["vgg", "--to", "GTX 1800"], "did you mean 'GeForce GTX 1080'"),
        (["vgg", "--to", "H200", "--from", "Titan X"], "may be any of"),
        (["vgg", "--to", "H200", "--seconds", "0"], "name the card to compare with"),
        (["vgg", "--to", "H200", "--seconds", "x"], "--seconds: found 'x'"),
        (["vgg", "--to", "H200", "--batch-size", "0"], "--batch-size: found '0'"),
    ],
)
def test_wrong_command_lines_are_one_line(arguments: list[str], said: str) -> None:
    done = upgrade(*arguments)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""
