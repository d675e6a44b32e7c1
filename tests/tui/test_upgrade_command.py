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
    gtx, h200 = told["cards"]
    assert gtx["card"] == "GeForce GTX 1080" and 1.0 < gtx["ratio"]["likely"] < 1.35
    assert h200["ratio"]["likely"] > 5
    assert h200["ratio"]["low"] <= h200["ratio"]["likely"] <= h200["ratio"]["high"]


def test_the_machine_at_hand_is_measured_first() -> None:
    done = upgrade("lasagne-mlp", "--device", "cpu", "--to", "H200", "--seconds", "2")
    assert done.returncode == 0, done.stderr
    assert "measured" in done.stdout and "H200 SXM would give" in done.stdout
    assert "training lasagne-mlp here for 2 s" in done.stderr


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
