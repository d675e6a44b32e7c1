"""Step time of hier-bilstm, stepwise against fused, on the CPU at several batch sizes.

python tests/bench/recurrence.py [PAIRS] [SIZE]. Steps in turn, so that the machine's drift hits both alike.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import torch
from msgspec import structs
from torch import Tensor
from torch.nn import functional

import gputrain_presets
from gputrain_runner.worker import data, models
from gputrain_runner.worker.models.hier_bilstm import HierBiLstm
from measuring import line, median, spread
from training import in_memory

PRESET = "hier-bilstm"


def step_ms(model: HierBiLstm, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor) -> float:
    """One training step."""
    began = time.perf_counter()
    functional.cross_entropy(model(inputs), targets).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return (time.perf_counter() - began) * 1e3


def measure(pairs: int = 7, size: str = "128") -> list[dict[str, Any]]:
    """The ratio at three batch sizes."""
    preset = gputrain_presets.load(PRESET)
    less = structs.replace(preset.data, training_samples=64, validation_samples=0)
    split = data.load(less, preset.model).training
    torch.manual_seed(0)
    model = models.build(preset.model, size)
    assert isinstance(model, HierBiLstm)
    optimizer = torch.optim.Adam(model.parameters())
    lines = []
    for batch_size in (1, 4, 32):
        times: dict[str, list[float]] = {"fused": [], "stepwise": []}
        for pair in range(pairs + 1):
            for name, of_this in times.items():
                model.set_recurrence(name)
                took_ms = step_ms(
                    model,
                    optimizer,
                    in_memory(split).inputs[:batch_size],
                    in_memory(split).targets[:batch_size],
                )
                if pair:  # The first of each warms up.
                    of_this.append(took_ms)
        ratios = [slow / fast for fast, slow in zip(times["fused"], times["stepwise"], strict=True)]
        detail = f"{spread(ratios)}; {median(times['fused']):.1f} and {median(times['stepwise']):.1f} ms"
        name = f"stepwise / fused, {PRESET} {size}, batch {batch_size}"
        # No budget: what the loop costs depends on the device.
        lines.append(line(name, median(ratios), "", "> 0", True, detail))
    return lines


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 7, sys.argv[2] if len(sys.argv) > 2 else "128")
