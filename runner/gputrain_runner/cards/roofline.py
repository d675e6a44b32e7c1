"""What a step would take on another card: a roofline over its operations, beside what the host needs.

Each operation takes the longest of its arithmetic, its memory traffic and the least a kernel takes;
the device's time is their sum. The host's time is what starting them costs. Both run side by side, so
the step takes the longer one. On public timings of AlexNet, GoogLeNet, VGG-16/19 and ResNet-50/101/152
(cnn-benchmarks, batch 16) the ratios between a GTX 1080, a Titan X (Maxwell) and a Titan X (Pascal)
come out with a median error of 6 %, 19 % at most; the absolute times within a factor of two, because
libraries reach more (Winograd convolutions) or less of a peak than what is assumed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..protocol import Operation
from ..telemetry.pcie import link_bytes_per_s
from .catalog import Card

PRODUCT_SHARE = 0.7
"""Share of the published peak that fp32 products and convolutions reach in practice."""
TENSOR_SHARE = 0.5
"""The same of the peak of tensor cores, which is harder to reach."""
MEMORY_SHARE = 0.5
"""Share of the published bandwidth that operations reach which read and write everything once."""
LEAST_KERNEL_US = 3.0
"""No kernel takes less on the device, with the gap to the next (2-5 us are usual)."""
LAUNCH_US = (5.0, 8.0, 15.0)
"""Host time for one eager operation, low, likely, high, where it was not measured: Holistic Trace
Analysis takes 5-20 us as the usual range of a launch."""
GRAPH_LAUNCH_US = 20.0
"""Host time to start a whole CUDA graph."""
PAGEABLE_SHARE, PINNED_SHARE = 0.35, 0.8
"""Share of the link's rate that a copy reaches from pageable and from pinned memory."""
SPREAD = 1.35
"""Factor down and up within which the device's time is expected to lie."""
CALIBRATED_SPREAD = 1.2
"""The same where it was corrected by what was measured on a card of the file."""
HALVED = 0.6
"""Bytes under autocast over those in fp32: activations halve, weights and optimizer do not."""

_TENSOR_PRECISIONS = ("tf32", "bf16", "fp16")

Limit = Literal["host", "input", "arithmetic", "memory", "small kernels"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What this host needs for a step, as far as it was measured."""

    data_ms: float | None = None
    """To put a batch together, on the training thread; None where it was not measured: taken as nothing."""
    dispatch_ms: float | None = None
    """To start the step's operations on a GPU; None where it was not measured on one."""
    launch_us: float | None = None
    """For one eager operation, from the probe of a GPU."""
    batch_bytes: int = 0
    """What is copied to the device for a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """A step on a card, in ms: low, likely, high of the whole, and its parts."""

    card: Card
    step_ms: tuple[float, float, float]
    host_ms: float
    """Data, copy and dispatch on the host."""
    dispatch_ms: float
    device_ms: float
    """Kernels and copies."""
    copy_ms: float
    limited_by: Limit
    graph_ms: float
    """The likely step with the whole step in a CUDA graph, all else as it is."""


def forecast(
    operations: Sequence[Operation],
    card: Card,
    host: Host,
    *,
    precision: str = "fp32",
    execution: str = "eager",
    data_path: str = "host",
    correction: float = 1.0,
    spread: float = SPREAD,
) -> Forecast:
    """What a step of these operations would take on `card`.

    Args:
        operations: of one step in fp32, as the worker counts them.
        card: where.
        host: what this host needs, taken to be the same there.
        precision, execution, data_path: the settings.
        correction: measured over modelled device time, where it was measured on a card of the file.
        spread: how far the device's time may be off.
    """
    kernels = _device_ms(operations, card, precision)
    device = correction * sum(kernels.values())
    copy = _copy_ms(host.batch_bytes, card, data_path)
    calls = sum(operation.count for operation in operations)
    likely = _dispatch_ms(calls, host, execution)
    data = host.data_ms or 0.0
    steps = [
        _step_ms(dispatch, device * factor, copy, data, data_path)
        for dispatch, factor in zip(likely, (1 / spread, 1.0, spread), strict=True)
    ]
    host_ms = _host_ms(likely[1], copy, data, data_path)
    least = max(kernels, key=lambda name: kernels[name])
    limit: Limit = least
    if host_ms > device + copy:
        limit = "input" if host_ms - likely[1] > likely[1] else "host"
    graph = GRAPH_LAUNCH_US / 1e3
    return Forecast(
        card=card,
        step_ms=(steps[0], steps[1], steps[2]),
        host_ms=host_ms,
        dispatch_ms=likely[1],
        device_ms=device,
        copy_ms=copy,
        limited_by=limit,
        graph_ms=_step_ms(graph, device, copy, data, data_path),
    )


def device_ms(operations: Sequence[Operation], card: Card, precision: str = "fp32") -> float:
    """The modelled time of the operations' kernels, to be set against a measured one."""
    return sum(_device_ms(operations, card, precision).values())


def _device_ms(operations: Sequence[Operation], card: Card, precision: str) -> dict[Limit, float]:
    """Time of all kernels, by what limits each operation."""
    tensor = precision in _TENSOR_PRECISIONS and card.runs(precision)
    products = card.product_flops_per_s(precision) * (TENSOR_SHARE if tensor else PRODUCT_SHARE)
    memory = card.memory_bytes_per_s * MEMORY_SHARE
    halved = HALVED if precision in ("bf16", "fp16") and card.runs(precision) else 1.0
    spent: dict[Limit, float] = {"arithmetic": 0.0, "memory": 0.0, "small kernels": 0.0}
    for operation in operations:
        roofs: dict[Limit, float] = {
            "arithmetic": operation.flops / products * 1e3,
            "memory": operation.moved_bytes * halved / memory * 1e3,
            "small kernels": operation.kernels * LEAST_KERNEL_US / 1e3,
        }
        limit = max(roofs, key=lambda name: roofs[name])
        spent[limit] += operation.count * roofs[limit]
    return spent


def _dispatch_ms(calls: int, host: Host, execution: str) -> tuple[float, float, float]:
    """Host time to start the step's work: low, likely, high."""
    if execution == "graph":
        return (GRAPH_LAUNCH_US / 1e3,) * 3
    if host.dispatch_ms is not None:
        return 0.9 * host.dispatch_ms, host.dispatch_ms, 1.1 * host.dispatch_ms
    if host.launch_us is not None:
        # A launch alone; autograd and Python come on top of it.
        return tuple(calls * host.launch_us * factor / 1e3 for factor in (1.0, 1.5, 2.5))  # type: ignore[return-value]
    return tuple(calls * launch_us / 1e3 for launch_us in LAUNCH_US)  # type: ignore[return-value]


def _copy_ms(batch_bytes: int, card: Card, data_path: str) -> float:
    if data_path == "resident":
        return 0.0
    link = link_bytes_per_s(*card.link)
    assert link is not None
    share = PINNED_SHARE if data_path in ("pinned", "prefetch") else PAGEABLE_SHARE
    return batch_bytes / (link * share) * 1e3


def _host_ms(dispatch: float, copy: float, data: float, data_path: str) -> float:
    """What the training thread is busy for."""
    if data_path in ("prefetch", "loader"):
        return max(dispatch, data)  # Another thread or process puts the batch together.
    # A copy from pageable memory holds the host until it is done.
    return dispatch + data + (copy if data_path == "host" else 0.0)


def _step_ms(dispatch: float, device: float, copy: float, data: float, data_path: str) -> float:
    """Host and device side by side; on one stream a copy cannot overlap the kernels."""
    on_device = max(device, copy) if data_path == "prefetch" else device + copy
    return max(_host_ms(dispatch, copy, data, data_path), on_device)
