"""One real epoch of keras-mnist-mlp on MNIST's own file format."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from rendered_digits import write_idx
from terminal import PROGRAM


def test_an_epoch_on_idx_files_is_far_better_than_chance(tmp_path: Path) -> None:
    write_idx(tmp_path / "digits", training=20_000, test=2000)
    recording = tmp_path / "x.json"
    arguments = ["keras-mnist-mlp", "--device", "cpu", "--epochs", "1", "--data", str(tmp_path / "digits")]
    done = subprocess.run(
        [PROGRAM, "run", *arguments, "--record", str(recording), "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["samples"] == 20_000
    assert summary["steps"] == 157  # 156 batches of 128 and one of 32
    assert summary["validation"]["accuracy"] > 0.5
    recorded = json.loads(recording.read_text())
    assert recorded["summary"] == summary
    assert "20,000" in recorded["session"]["data"]
    assert not recorded["session"]["data"].startswith("synthetic")
    validations = [entry["validation"] for entry in recorded["timeline"] if entry.get("validation")]
    assert [validation["samples"] for validation in validations] == [2000]
