"""What tests of the sweep command share: the program with a worker that answers at once, small presets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import fake_sweep_worker

PROGRAM = [sys.executable, str(Path(fake_sweep_worker.__file__)), "gputrain-tui"]
REAL = [str(Path(sys.executable).parent / "gputrain-tui")]
"""The program as it is, its workers too."""

PRESET = """\
name = "{name}"
title = "a tiny network"
batch_size = 8
[model]
family = "mlp"
inputs = 4
outputs = 2
activation = "relu"
default_size = "{size}"
sizes = [{{name = "{size}", hidden = [8]}}, {{name = "wide", hidden = [80]}}]
[data]
kind = "teacher"
training_samples = {samples}
validation_samples = 10
[loss]
kind = "mse"
[optimizer]
kind = "sgd"
lr = 0.1
"""


def preset(folder: Path, name: str, size: str = "narrow", samples: int = 10_000) -> str:
    path = folder / f"{name}-{size}.toml"
    path.write_text(PRESET.format(name=name, size=size, samples=samples))
    return str(path)


def sweep(*arguments: str, program: list[str] = PROGRAM, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*program, "sweep", *arguments], capture_output=True, text=True, timeout=120, check=False, **options
    )


def load(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())  # type: ignore[no-any-return]
