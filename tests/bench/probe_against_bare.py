"""The probe's rate of matrix products against a bare PyTorch measurement in the same run, in turn.

python tests/bench/probe_against_bare.py [DEVICE] [ROUNDS] [SECONDS_EACH]. The probe runs in a worker of its
own, as `gputrain-tui doctor --probe` does; the bare products in this process, between two probes.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from typing import Any

import torch

from gputrain_runner.machine import host_facts
from gputrain_runner.probing import SECONDS_EACH, measure
from measuring import line, median, spread

CLOSE = 0.15
SIZES = {"cpu": (512, 1024, 2048), "cuda": (4096, 8192)}
BARE_S = 2.0


def bare_flops_per_s(device: str) -> float:
    """Products of the sizes that people try first, each for some seconds; the best size's median rate."""
    kind = device.split(":")[0]
    if kind == "cpu":
        torch.set_num_threads(host_facts().cores or torch.get_num_threads())
    best = 0.0
    for size in SIZES[kind]:
        left, right = (torch.randn(size, size, device=device) for _ in range(2))
        torch.mm(left, right)
        rates = []
        until = time.perf_counter() + BARE_S
        while time.perf_counter() < until:
            _wait(kind)
            began = time.perf_counter()
            torch.mm(left, right)
            _wait(kind)
            rates.append(2 * size**3 / (time.perf_counter() - began))
        best = max(best, statistics.median(rates))
    return best


def _wait(kind: str) -> None:
    if kind == "cuda":
        torch.cuda.synchronize()


def bench(device: str = "cpu", rounds: int = 3, seconds_each: float = SECONDS_EACH) -> list[dict[str, Any]]:
    """Probe and bare products in turn; their ratio round by round."""
    ratios, probed, noisy = [], [], 0
    for _ in range(rounds):
        before = bare_flops_per_s(device)
        with tempfile.TemporaryDirectory() as folder:  # Nothing is to be kept of a benchmark.
            os.environ["XDG_STATE_HOME"] = folder
            ceilings = measure([device], seconds_each)[device]
        bare = (before + bare_flops_per_s(device)) / 2
        probed.append(ceilings.matmul_flops_per_s["fp32"].median)
        ratios.append(probed[-1] / bare)
        noisy += ceilings.noisy
    ratio = median(ratios)
    detail = f"{median(probed) / 1e9:,.1f} GFLOP/s, {spread(ratios)}, {noisy} noisy"
    return [
        line(
            f"probe over bare PyTorch, fp32 product on {device}",
            ratio,
            "×",
            f"1 ± {CLOSE}",
            abs(ratio - 1) <= CLOSE,
            detail,
        )
    ]


if __name__ == "__main__":
    given = sys.argv[1:]
    device = given[0] if given else "cpu"
    rounds = int(given[1]) if len(given) > 1 else 3
    seconds_each = float(given[2]) if len(given) > 2 else SECONDS_EACH
    sys.exit(any(not each["met"] for each in bench(device, rounds, seconds_each)))
