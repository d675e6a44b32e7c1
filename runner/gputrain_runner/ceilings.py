"""What a device can do at most, as the probe measured it on this machine."""

from __future__ import annotations

from msgspec import Struct

WIDE = 0.10
"""Quartiles further apart than this share of the median are too wide to trust."""


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


def is_wide(figure: Figure) -> bool:
    """Whether its spread is too wide to trust the median."""
    return figure.q75 - figure.q25 > WIDE * figure.median


def about(ceilings: Ceilings | None) -> str:
    """What stands before each figure that rests on these: `about ` where they are noisy, else nothing."""
    return "about " if ceilings is not None and ceilings.noisy else ""


def share_of_ceiling(flops_per_s: float | None, precision: str, ceilings: Ceilings | None) -> float | None:
    """A rate of work as a share of what matrix products reach on the device in that precision, 1 = all.

    Convolutions may exceed it: Winograd's method needs fewer multiplications than are counted.

    Args:
        flops_per_s: the training's, as a sample has it.
        precision: the training's.
        ceilings: of the device that trains.

    Returns:
        None where either is not known: there is no share of a ceiling that was not measured.
    """
    ceiling = None if ceilings is None else ceilings.matmul_flops_per_s.get(precision)
    if flops_per_s is None or ceiling is None or ceiling.median <= 0:
        return None
    return flops_per_s / ceiling.median


def in_words(ceilings: Ceilings) -> str:
    """The main figures on one line: `fp32 51.2 TFLOP/s, bf16 790 TFLOP/s, memory 4.3 TB/s, ...`.

    `fp32 about 51.2 TFLOP/s` where they are noisy.
    """
    hedge = about(ceilings)
    parts = [
        f"{precision} {hedge}{_scaled(figure.median, 'FLOP/s')}"
        for precision, figure in ceilings.matmul_flops_per_s.items()
    ]
    for label, rate in (
        ("memory", ceilings.memory_bytes_per_s),
        ("host to device pinned", ceilings.h2d_pinned_bytes_per_s),
        ("pageable", ceilings.h2d_pageable_bytes_per_s),
    ):
        if rate is not None:
            parts.append(f"{label} {hedge}{_scaled(rate.median, 'B/s')}")
    what = "dispatch" if ceilings.device == "cpu" else "launch"
    if ceilings.launch_us is not None:
        parts.append(f"{what} {hedge}{ceilings.launch_us.median:.1f} µs")
    if ceilings.graph_launch_us is not None:
        parts.append(f"in a graph {hedge}{ceilings.graph_launch_us.median:.2f} µs")
    return ", ".join(parts) or "nothing could be measured"


def _scaled(value: float, unit: str) -> str:
    """Three digits: `790 TFLOP/s`, `4.30 TB/s`."""
    for prefix, size in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if value >= size or prefix == "M":
            break
    scaled = value / size
    digits = 0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2
    return f"{scaled:,.{digits}f} {prefix}{unit}"
