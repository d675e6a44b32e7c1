"""`gputrain-tui run` as a user starts it, on a small network of its own, for the tests of that command."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gputrain_runner.schema import recording_schema

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


def write_preset(folder: Path) -> str:
    """The small network's file; its path."""
    path = folder / "small.toml"
    path.write_text(PRESET)
    return str(path)


def isolate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A default place of the test's own; one thread, which is all that so small a network can use."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def run(*arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """The command, until it has ended."""
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
    """The timeline's entries of a kind."""
    return [entry for entry in recording["timeline"] if entry["kind"] == kind]
