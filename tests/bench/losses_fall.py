"""Each preset trained as it is, at a small batch, on its own data: the first loss and the last ones.

python tests/bench/losses_fall.py [--device D] [--steps N] [PRESET...]. Without presets all of them, on the
CPU: some minutes, the large image networks most of it. Exit code 1 where a loss does not fall.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import torch
from msgspec import structs

import gputrain_presets
from gputrain_presets import Preset
from gputrain_presets.image_models import ImageModel
from gputrain_runner import settings
from gputrain_runner.worker import data
from gputrain_runner.worker.trainer import Trainer

FALLS_TO = 0.9
"""The last losses' mean must be below this share of the first."""
LAST = 5
"""So many last losses are averaged."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a preset is trained here: a batch that a CPU gets through, of data that is seen several times."""

    batch_size: int
    training_samples: int
    steps: int


IMAGES = Plan(batch_size=8, training_samples=32, steps=30)
PLANS = {
    "lasagne-mlp": Plan(batch_size=64, training_samples=2000, steps=300),
    "keras-mnist-mlp": Plan(batch_size=64, training_samples=2000, steps=300),
    "hier-bilstm": Plan(batch_size=8, training_samples=160, steps=60),
}
"""The presets that are no image networks."""


def plan_of(preset: Preset, steps: int | None) -> Plan:
    """The plan, with so many steps where they are given."""
    plan = IMAGES if isinstance(preset.model, ImageModel) else PLANS[preset.name]
    return plan if steps is None else Plan(plan.batch_size, plan.training_samples, steps)


def losses_of(preset: Preset, plan: Plan, device: str) -> list[float]:
    """Train by the plan, from seed 0; the loss of every step."""
    less = structs.replace(preset.data, training_samples=plan.training_samples, validation_samples=0)
    preset = structs.replace(preset, data=less, batch_size=plan.batch_size)
    torch.manual_seed(0)
    dataset = data.load(preset.data, preset.model)
    trainer = Trainer(preset, dataset, settings.initial(preset, device), seed=0)
    losses = []
    for _ in range(plan.steps):
        if trainer.order.exhausted:
            trainer.begin_epoch()
        trainer.step()
        assert trainer.loss is not None
        losses.append(trainer.loss.item())
    trainer.close()
    return losses


def main() -> int:
    """Train each and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", metavar="PRESET", default=gputrain_presets.names())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, help="instead of each preset's own number of them")
    options = parser.parse_args()
    print(
        f"{'preset':<16} {'batch':>5} {'steps':>5} {'first':>8} {'last':>8} {'ratio':>6}  {'s':>6}",
        flush=True,
    )
    fallen = True
    for name in options.presets or gputrain_presets.names():
        preset = gputrain_presets.load(name)
        plan = plan_of(preset, options.steps)
        began = time.perf_counter()
        losses = losses_of(preset, plan, options.device)
        took_s = time.perf_counter() - began
        last = sum(losses[-LAST:]) / LAST
        falls = last < FALLS_TO * losses[0]
        fallen &= falls
        figures = f"{losses[0]:>8.4f} {last:>8.4f} {last / losses[0]:>6.2f}  {took_s:>6.1f}"
        print(
            f"{name:<16} {plan.batch_size:>5} {plan.steps:>5} {figures}{'' if falls else '  DOES NOT FALL'}",
            flush=True,
        )
    return 0 if fallen else 1


if __name__ == "__main__":
    sys.exit(main())
