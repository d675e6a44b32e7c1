"""The mark to beat: the same work in a bare PyTorch loop, without clock, reports or commands.

python tests/bench/bare_loop.py PRESET BATCH_SIZE: for ever, a line per quarter of a second with the monotonic
time at its end and the samples/s.
"""

from __future__ import annotations

import sys
import time

import torch

import gputrain_presets
from gputrain_runner.worker import data, losses, models, optimizers

WINDOW_S = 0.25


def train(preset_name: str, batch_size: int) -> None:
    """Train without end."""
    preset = gputrain_presets.load(preset_name)
    torch.manual_seed(0)
    split = data.load(preset.data, preset.model).training
    model = models.build(preset.model, preset.model.default_size)
    optimizer = optimizers.build(preset.optimizer, model.parameters())
    measure_loss = losses.build(preset.loss)
    samples = len(split)
    counted, window_began = 0, time.monotonic()
    while True:
        order = torch.randperm(samples)
        for first in range(0, samples - batch_size + 1, batch_size):
            chosen = order[first : first + batch_size]
            inputs, targets = split.gather(chosen)
            loss = measure_loss(model(inputs), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            counted += batch_size
            now = time.monotonic()
            if now - window_began >= WINDOW_S:
                print(now, counted / (now - window_began), flush=True)
                counted, window_began = 0, now


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
