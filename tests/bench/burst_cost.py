"""What a burst of profiled steps costs, and which share of training speed that is.

Stretches of steps with a burst in them and without, in turn: what the burst adds is the difference. One
process, no screen.

python tests/bench/burst_cost.py [ROUNDS]
"""

from __future__ import annotations

import sys
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import torch
from msgspec import structs

import gputrain_presets
from gputrain_runner import settings
from gputrain_runner.protocol import Progress, Start
from gputrain_runner.timeline import StepMs
from gputrain_runner.worker import data
from gputrain_runner.worker.burst import Bursts, spacing_s
from gputrain_runner.worker.trainer import Trainer
from measuring import line

STRETCH_S = 0.3
CASES = (("lasagne-mlp", 1024), ("lasagne-mlp", 32), ("hier-bilstm", None))


class Bench:
    """A trainer, and bursts in it when they are asked for."""

    def __init__(self, preset_name: str, batch_size: int | None) -> None:
        preset = gputrain_presets.load(preset_name)
        wanted = settings.initial(preset, "cpu")
        if batch_size is not None:
            wanted = structs.replace(wanted, batch_size=batch_size)
        torch.manual_seed(0)
        dataset = data.load(preset.data, preset.model)
        self.trainer = Trainer(preset, dataset, wanted, seed=0)
        self.every_s = Start(preset=preset, settings=wanted).profile_every_s or 0.0
        self.bursts = Bursts(self.trainer, self.every_s, print)
        self._now = 0.0

    def steps_s(self, steps: int) -> float:
        """How long so many take, those of the burst under way with the others."""
        began = perf_counter()
        for _ in range(steps):
            if self.trainer.order.exhausted:
                self.trainer.begin_epoch()
            self.bursts.step() if self.bursts.under_way else self.trainer.step()
        return perf_counter() - began

    def begin_burst(self, step_ms: float) -> None:
        """Let the next step be a burst's first, as after steady reports a minute apart."""
        while not self.bursts.under_way:
            self._now += 3600.0
            self.bursts.consider(self._report(step_ms))
            if not self.bursts.under_way:
                self.steps_s(1)

    def _report(self, step_ms: float) -> Progress:
        return Progress(
            at=self._now,
            step=0,
            epoch=0,
            samples=0,
            settings=self.trainer.settings,
            steady=True,
            samples_per_s=None,
            steps_per_s=None,
            step_ms=StepMs(p50=step_ms, p95=step_ms, mean=step_ms),
            loss=None,
            phases=None,
            dispatch_ms=None,
            flops_per_s=None,
            memory=None,
        )


def compare(preset_name: str, batch_size: int | None, rounds: int) -> dict[str, Any]:
    """The share of training speed that bursts take of one workload."""
    bench = Bench(preset_name, batch_size)
    bench.steps_s(5)
    step_s = bench.steps_s(10) / 10
    steps = max(8, round(STRETCH_S / step_s))
    bench.begin_burst(step_s * 1e3)  # The first one loads what the profiler is made of.
    bench.steps_s(steps)
    costs_s = []
    for _ in range(rounds):
        before_s = bench.steps_s(steps)
        began = perf_counter()
        bench.begin_burst(before_s / steps * 1e3)
        began_s = perf_counter() - began
        with_it_s = began_s + bench.steps_s(steps)
        costs_s.append(with_it_s - (before_s + bench.steps_s(steps)) / 2)
    cost_s = median(costs_s)
    share = cost_s / spacing_s(bench.every_s, max(cost_s, 0.0), first=False)
    low, _, high = quantiles(costs_s, n=4)
    name = f"speed lost to bursts, {preset_name}, batch {bench.trainer.settings.batch_size}, CPU"
    detail = f"{cost_s * 1e3:.1f} ms each (quartiles {low * 1e3:.1f} to {high * 1e3:.1f})"
    detail += f", a step {step_s * 1e3:.2f} ms"
    return line(name, share * 100, "%", "< 1", share < 0.01, detail)


def measure(rounds: int = 20) -> list[dict[str, Any]]:
    """The share for every workload."""
    return [compare(preset_name, batch_size, rounds) for preset_name, batch_size in CASES]


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
