"""The machine and its software, as facts of a page."""

from __future__ import annotations

from collections.abc import Sequence

from gputrain_runner.timeline import Device, Host

from .. import format
from .html import Part


def machine(host: Host, devices: Sequence[Device]) -> list[tuple[str, Part]]:
    """Names and what they are; what is not known is left out or n/a."""
    versions = (("PyTorch", host.torch), ("CUDA", host.cuda), ("cuDNN", host.cudnn), ("driver", host.driver))
    rows: list[tuple[str, Part]] = [
        ("system", f"{host.os}, Python {host.python}{', over SSH' if host.over_ssh else ''}"),
        ("CPU", f"{host.cpu or format.UNKNOWN}, {host.cores or format.UNKNOWN} cores"),
        ("memory", format.memory(host.memory_bytes)),
        *((name, version) for name, version in versions if version is not None),
    ]
    for device in devices:
        if device.device != "cpu":
            memory = format.memory(device.memory_bytes)
            capability = device.compute_capability
            also = f", compute capability {capability}" if capability else ""
            rows.append((device.device, f"{device.name or format.UNKNOWN}, {memory}{also}"))
    return rows
