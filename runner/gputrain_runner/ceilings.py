"""What a device can do at most, as the probe measured it on this machine."""

from __future__ import annotations

from msgspec import Struct


class Figure(Struct, frozen=True, kw_only=True):
    """One measured quantity: the median of its repeats and their quartiles."""

    median: float
    q25: float
    q75: float
    repeats: int


class Ceilings(Struct, frozen=True, kw_only=True):
    """One device's ceilings. What was not measured, or has no meaning for the device, is null."""

    device: str
    """As PyTorch calls it: "cpu", "cuda:0"."""
    name: str | None = None
    uuid: str | None = None
    measured_at: str
    """UTC, ISO 8601."""
    torch: str | None = None
    driver: str | None = None
    matmul_flops_per_s: dict[str, Figure] = {}
    """Matrix products that fill the device, by precision ("fp32", "tf32", "bf16", "fp16"), in FLOP/s (a
    multiply-add is two); precisions that the device lacks are absent. On a CPU with all its threads."""
    matmul_threads_flops_per_s: dict[str, Figure] = {}
    """On a CPU: the fp32 product's rate by the number of threads ("1", "2", ...)."""
    memory_bytes_per_s: Figure | None = None
    """A copy within the device's memory: bytes read plus bytes written."""
    h2d_pinned_bytes_per_s: Figure | None = None
    h2d_pageable_bytes_per_s: Figure | None = None
    d2h_pinned_bytes_per_s: Figure | None = None
    d2h_pageable_bytes_per_s: Figure | None = None
    launch_us: Figure | None = None
    """Host time of one eager operation on a tiny tensor: on a GPU its launch, on a CPU its dispatch."""
    graph_launch_us: Figure | None = None
    """Time of one kernel inside a CUDA graph that replays many tiny ones."""
    noisy: bool = False
    """Spreads so wide (quartiles more than 10 % of the median apart) that the figures are not to be
    trusted: something else used the machine."""


Probe = dict[str, Ceilings]
"""The ceilings of the probed devices by their names; what a recording's `probe` holds."""
