"""Files of sweeps with made-up points."""

from __future__ import annotations

import random

from msgspec import structs, to_builtins

from fake_sweep_worker import plan, tiny
from gputrain_runner.protocol import StepsTimed
from gputrain_runner.sweep import PointResult, SweepFile
from gputrain_runner.sweep.measuring import Answer
from gputrain_runner.sweep.reckoning import nothing, reckoned
from gputrain_runner.timeline import Device, Host

HOST = Host(os="Linux", cpu="a CPU", cores=2, memory_bytes=1, python="3.11", over_ssh=False, torch="2.13")


def point(batch: int, ms: float, seed: int = 0, steps: int = 60, **values: object) -> PointResult:
    """A point of so many steps around `ms`, with noise."""
    (asked,) = plan(batch).points
    asked = structs.replace(asked, settings=structs.replace(asked.settings, **values))
    chance = random.Random(seed)
    times = [ms * (1 + chance.gauss(0, 0.04)) for _ in range(steps)]
    timed = StepsTimed(
        at=1.0,
        outcome="ok",
        error=None,
        settings=asked.settings,
        forward_ms=times,
        forward_backward_ms=times,
        step_ms=times,
    )
    return reckoned(asked, None, Answer("ok", None, timed), None, None)


def missing(batch: int) -> PointResult:
    (asked,) = plan(batch).points
    return nothing(asked, "out_of_memory", "out of memory")


def sweep(*points: PointResult, **fields: object) -> SweepFile:
    whole = SweepFile(
        started_at="2026-11-30T10:00:00.000+00:00",
        host=HOST,
        devices=[Device(device="cpu", name="a CPU"), Device(device="cuda:0", name="a GPU")],
        planned=len(points),
        complete=True,
        runs=60,
        warmup=10,
        rounds=2,
        points=list(points),
        presets={"tiny": to_builtins(tiny())},
    )
    return structs.replace(whole, **fields)
