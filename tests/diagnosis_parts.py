"""What synthetic windows are made of: devices, ceilings, steps and profiles."""

from __future__ import annotations

from typing import Any

from msgspec import structs

import gputrain_presets
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.diagnosis.inputs import StepTimes
from gputrain_runner.diagnosis.workload import workload
from gputrain_runner.settings import Settings, initial
from gputrain_runner.timeline import Device, KindOfWork, Profile

H200 = Device(
    device="cuda:0", name="NVIDIA H200", uuid="GPU-1", memory_bytes=141_000_000_000, compute_capability="9.0"
)
CPU = Device(device="cpu", name="a CPU")


def figure(value: float) -> Figure:
    return Figure(median=value, q25=value * 0.98, q75=value * 1.02, repeats=9)


GPU_CEILINGS = Ceilings(
    device="cuda:0",
    measured_at="2026-11-30T10:00:00Z",
    matmul_flops_per_s={"fp32": figure(50e12), "tf32": figure(350e12), "bf16": figure(700e12)},
    memory_bytes_per_s=figure(4e12),
    h2d_pinned_bytes_per_s=figure(50e9),
    h2d_pageable_bytes_per_s=figure(8e9),
    launch_us=figure(6.0),
    graph_launch_us=figure(1.6),
)
CPU_CEILINGS = Ceilings(
    device="cpu",
    measured_at="2026-11-30T10:00:00Z",
    matmul_flops_per_s={"fp32": figure(100e9), "bf16": figure(110e9)},
    matmul_threads_flops_per_s={"1": figure(52e9), "2": figure(100e9)},
    memory_bytes_per_s=figure(16e9),
    launch_us=figure(1.8),
)


def work(**kinds: tuple[float, float]) -> dict[str, KindOfWork]:
    """Kinds of work by name: ms and count a step."""
    return {name: KindOfWork(ms=took_ms, count=count) for name, (took_ms, count) in kinds.items()}


def profile(step_ms: float, work_ms: float, kinds: dict[str, KindOfWork], **more: Any) -> Profile:
    launches = sum(kind.count for kind in kinds.values())
    return Profile(
        steps=5,
        step_ms=step_ms,
        work_ms=work_ms,
        **{"launches": launches, "work": kinds, "sync_count": 0.0, **more},
    )


def times(host_ms: dict[str, float], device_ms: dict[str, float] | None = None, **more: Any) -> StepTimes:
    """Steps whose phases sum to the step."""
    step_ms = sum(host_ms.values())
    defaults: dict[str, Any] = {
        "p50_ms": step_ms,
        "p95_ms": 1.1 * step_ms,
        "spread": 0.02,
        "samples_per_s": 1024 / step_ms * 1e3,
        "seconds": 10.0,
        "steps": 400,
    }
    return StepTimes(step_ms=step_ms, host_ms=host_ms, device_ms=device_ms or {}, **{**defaults, **more})


def facts(name: str) -> dict[str, Any]:
    preset = gputrain_presets.load(name)
    return {"preset": preset, "workload": workload(preset, preset.model.default_size)}


def settings(name: str, device: str, **values: Any) -> Settings:
    return structs.replace(initial(gputrain_presets.load(name), device), **{"threads": 2, **values})
