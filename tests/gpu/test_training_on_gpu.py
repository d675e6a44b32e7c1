"""Training on a real GPU: phases by events, moving to and fro, out of memory and the way back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs

from gputrain_runner.worker import changes
from training import OPTIMIZERS, check_moving_keeps_the_curve, losses_of, moved, trainer
from training_presets import small

Note = Callable[[str, float, str], None]


def run(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """A headless run; its recording."""
    recording = tmp_path / "gpu.json"
    program = [sys.executable, "-P", "-m", "gputrain_tui"]
    command = [*program, "run", *arguments, "--record", str(recording), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    recorded: dict[str, Any] = json.loads(recording.read_text())
    return recorded


def test_a_run_on_the_gpu_has_device_times_and_telemetry(tmp_path: Path, note: Note) -> None:
    recorded = run(tmp_path, "lasagne-mlp", "--device", "cuda:0", "--seconds", "6")
    samples = [entry for entry in recorded["timeline"] if entry["kind"] == "sample" and entry["steady"]]
    assert samples
    for sample in samples:
        total = sum(phase["host_ms"] for phase in sample["phases"].values())
        assert total == pytest.approx(sample["step_ms"]["mean"], rel=0.01)
        assert sample["phases"]["forward"]["device_ms"] > 0
        assert sample["phases"]["h2d"]["device_ms"] > 0
        assert sample["phases"]["data"]["device_ms"] is None
        assert 0 < sample["dispatch_ms"] <= sample["step_ms"]["mean"] * 1.01
        assert sample["memory"]["allocated_bytes"] <= sample["memory"]["reserved_bytes"]
    uuid = recorded["devices"][0]["uuid"]
    last = samples[-1]
    assert uuid in [gpu["uuid"] for gpu in last["gpus"]]
    gpu = next(gpu for gpu in last["gpus"] if gpu["uuid"] == uuid)
    assert gpu["memory_used_bytes"] > last["memory"]["reserved_bytes"]
    assert recorded["summary"]["loss_last"] < recorded["summary"]["loss_first"]
    note("lasagne-mlp, batch 1024, host path, eager", recorded["summary"]["samples_per_s"], "samples/s")
    note("  step", last["step_ms"]["p50"], "ms")
    note("  dispatch", last["dispatch_ms"], "ms")
    note("  utilisation by the driver", gpu["utilisation"], "0..1")
    note("  NVML time", last["host"]["nvml_ms_per_s"], "ms/s")


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_cpu_to_gpu_and_back_keeps_the_loss_curve(optimizer: str) -> None:
    # The two devices sum in different orders; what is compared is the curve.
    check_moving_keeps_the_curve("cpu", "cuda:0", optimizer, tolerance=2e-3)


def test_out_of_memory_by_batch_size_and_the_way_back(note: Note) -> None:
    free, _ = torch.cuda.mem_get_info(0)
    preset = structs.replace(small("lasagne-mlp", training_samples=934_918), batch_size=1024)
    of = trainer(preset, "cuda:0")
    assert changes.make(of, "model_size", "x16").error is None
    first = losses_of(of, 5)
    weights = [parameter.detach().clone() for parameter in of.model.parameters()]
    # Leave less than the largest batch needs, whatever the card has.
    hoard = torch.empty(max(free - 8_000_000_000, 0), dtype=torch.uint8, device="cuda:0")
    started = time.perf_counter()
    outcome = changes.make(of, "batch_size", 934_918)
    back_s = time.perf_counter() - started
    del hoard
    assert outcome.error is not None
    assert outcome.error.startswith("out of memory")
    assert of.settings.batch_size == 1024
    for before, after in zip(weights, of.model.parameters(), strict=True):
        assert torch.equal(before, after)
    assert losses_of(of, 5)[-1] < first[0]
    note("out of memory and back", back_s, "s")


def test_the_clock_costs_little(note: Note) -> None:
    preset = structs.replace(small("lasagne-mlp", training_samples=200_000), batch_size=1024)
    of = trainer(preset, "cuda:0")
    rates: dict[int, list[float]] = {0: [], 1: []}
    losses_of(of, 50)
    for _ in range(5):
        for instrumented in (0, 1):
            of.clock._until_next = 0 if instrumented else 1 << 60
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(150):
                if of.order.exhausted:
                    of.begin_epoch()
                of.step()
            torch.cuda.synchronize()
            rates[instrumented].append(150 / (time.perf_counter() - began))
            of.clock.take(150)
    ratio = sorted(rates[1])[2] / sorted(rates[0])[2]
    note("steps/s with the phase clock / without", ratio, "")
    assert ratio > 0.95


def test_moving_away_leaves_no_memory_behind() -> None:
    of = trainer(small("lasagne-mlp"), "cuda:0")
    losses_of(of, 3)
    assert torch.cuda.memory_allocated(0) > 0
    moved(of, "cpu")
    losses_of(of, 3)
    assert torch.cuda.memory_allocated(0) == 0
