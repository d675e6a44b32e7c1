"""The mark to beat: the same work in a bare PyTorch loop, without clock, reports or commands.

python tests/bench/bare_loop.py PRESET BATCH_SIZE SECONDS: prints samples/s of each second, as JSON.
"""

from __future__ import annotations

import json
import sys
import time

import torch

import gputrain_presets
from gputrain_runner.worker import data, losses, models, optimizers


def train(preset_name: str, batch_size: int, seconds: float) -> list[float]:
    """Samples/s of each whole second."""
    preset = gputrain_presets.load(preset_name)
    torch.manual_seed(0)
    split = data.load(preset.data, preset.model).training
    model = models.build(preset.model, preset.model.default_size)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    measure_loss = losses.build(preset.loss)
    samples = split.inputs.shape[0]
    rates: list[float] = []
    counted = 0
    second_began = began = time.perf_counter()
    while True:
        order = torch.randperm(samples)
        for first in range(0, samples - batch_size + 1, batch_size):
            chosen = order[first : first + batch_size]
            inputs = split.inputs.index_select(0, chosen)
            targets = split.targets.index_select(0, chosen)
            loss = measure_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            counted += batch_size
            now = time.perf_counter()
            if now - second_began >= 1.0:
                rates.append(counted / (now - second_began))
                counted, second_began = 0, now
                if now - began >= seconds:
                    return rates


if __name__ == "__main__":
    print(json.dumps(train(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
