"""A sweep on a real GPU: a point that does not fit is told as such, and its neighbours are measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

from gputrain_runner.settings import Value
from gputrain_runner.sweep import Chosen, Plan, Sweep, load, plan_points
from training_presets import small

Note = Callable[[str, float, str], None]

ABSURD = 1 << 19
"""A batch whose activations alone take 16 GB, in the largest size."""
LEFT_BYTES = 5_000_000_000
"""Of the GPU's memory, for the sweep's process: a context, and all but that batch."""


def test_a_point_out_of_memory_is_recorded_and_the_sweep_goes_on(tmp_path: Path, note: Note) -> None:
    preset = small("lasagne-mlp", training_samples=ABSURD, validation_samples=0)
    values: list[dict[str, tuple[Value, ...]]] = [
        {"model_size": ("x16",), "batch_size": (1024, ABSURD)},
        {"model_size": ("x1",), "batch_size": (1024,)},
    ]
    chosen = [Chosen("lasagne-mlp", preset, each) for each in values]
    points = [point for each in chosen for point in plan_points([each], ["cuda:0"], ["training"])]
    plan = Plan(points=points, runs=50, warmup=10, rounds=1, point_seconds=60.0, shared=True)
    path = tmp_path / "sweep.json"
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info(0)
    hoard = torch.empty(max(free - LEFT_BYTES, 1), dtype=torch.uint8, device="cuda:0")
    began = time.perf_counter()
    try:
        Sweep(plan, {"lasagne-mlp": preset}, path).run()
    finally:
        del hoard
        torch.cuda.empty_cache()
    note("a sweep of three points, one out of memory", time.perf_counter() - began, "s")
    written = load(path)
    assert written.complete
    fits, absurd, tiny = written.points
    assert absurd.settings.batch_size == ABSURD
    assert absurd.outcome == "out_of_memory", absurd.error
    assert absurd.error is not None and absurd.error.startswith("out of memory: needs another")
    assert absurd.ms is None and absurd.samples_per_s is None
    for point, name in ((fits, "x16"), (tiny, "x1")):
        assert (point.outcome, point.error) == ("ok", None)
        assert point.settings.model_size == name and point.runs == 50
        assert point.ms is not None and point.step_ms is not None and point.forward_ms is not None
        assert 0 < point.forward_ms.median < point.ms.median <= point.step_ms.median
        assert point.peak_memory_bytes is not None and 0 < point.peak_memory_bytes < LEFT_BYTES
        note(f"lasagne-mlp {name}, batch 1024: forward + backward", point.ms.median, "ms")
    assert fits.ms is not None and tiny.ms is not None and tiny.flops_per_s is not None
    assert fits.flops_per_s is not None and fits.flops_per_s > tiny.flops_per_s
