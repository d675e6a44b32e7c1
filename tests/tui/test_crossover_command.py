"""`gputrain-tui crossover` as users run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gputrain_tui.commands.text_plot import log_plot


def crossover(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gputrain_tui", "crossover", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def few_samples(tmp_path: Path) -> Path:
    """A preset whose ladder of batch sizes is short."""
    path = tmp_path / "few.toml"
    copied = [sys.executable, "-m", "gputrain_tui", "presets", "--copy", "lasagne-mlp", str(path)]
    subprocess.run(copied, check=True, capture_output=True, timeout=60)
    text = path.read_text()
    for found, less in (("934918", "256"), ("934_918", "256"), ("103880", "8"), ("103_880", "8")):
        text = text.replace(found, less)
    path.write_text(text.replace("batch_size = 1024", "batch_size = 64"))
    return path


def test_two_thread_counts_are_compared(few_samples: Path) -> None:
    done = crossover(str(few_samples), "--devices", "cpu@1,cpu@2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    sizes = [point["batch_size"] for point in told["points"]]
    assert sizes[0] == 1 and sizes[-1] == 256
    assert all(point["cpu@1_ms"] > 0 and point["cpu@2_ms"] > 0 for point in told["points"])
    assert set(told["fits"]) == {"cpu@1", "cpu@2"}
    assert "batch_size 256: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the preset is missing"),
        (["lasagne-mlp", "--devices", "cpu"], "two different devices"),
        (["lasagne-mlp", "--devices", "cpu,cpu"], "two different devices"),
        (["lasagne-mlp", "--devices", "cpu,gpu"], "cpu@THREADS"),
        (["lasagne-mlp", "--over", "precision"], "allowed: batch_size, model_size"),
        (["lasagne-mlp", "--devices", "cpu@1,cpu@2", "--batch-size", "8"], "crossover turns itself"),
        (["lasagne-mlp", "--devices", "cpu@1,cpu@2", "--device", "cpu"], "crossover turns itself"),
    ],
)
def test_wrong_command_lines_are_one_line(arguments: list[str], said: str) -> None:
    done = crossover(*arguments)
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1 and done.stdout == ""


def test_a_plot_marks_each_curve_and_where_they_meet() -> None:
    curves = {"one": [(1.0, 1.0), (100.0, 1.0)], "two": [(1.0, 100.0), (100.0, 1.0)]}
    lines = log_plot(curves, x_label="batch size", y_label="ms", width=40, height=5).splitlines()
    assert lines[0] == "ms" and lines[1].startswith("100 | x")
    assert lines[5].startswith("  1 | o") and lines[5].endswith("*")
    assert "o one   x two" in lines[-1]
    assert log_plot({"none": []}, x_label="", y_label="") == ""
