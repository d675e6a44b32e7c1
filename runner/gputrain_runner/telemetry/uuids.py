"""One GPU, many spellings: CUDA's, PyTorch's and NVML's names of a GPU or MIG device brought together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from ..hardware import Gpu
from ..timeline import Device, PcieMax

_PREFIXES = ("gpu-", "mig-")


def bare(uuid: str) -> str:
    """The part that all spellings share: lower case, without `GPU-` or `MIG-`.

    PyTorch names GPUs and MIG devices alike, without either.
    """
    text = uuid.strip().lower()
    for prefix in _PREFIXES:
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text


def find(gpus: Iterable[Gpu], uuid: str | None) -> Gpu | None:
    """The GPU (or MIG device) of this name; None where there is none."""
    if uuid is None:
        return None
    wanted = bare(uuid)
    return next((gpu for gpu in gpus if gpu.uuid is not None and bare(gpu.uuid) == wanted), None)


def known_to_driver(
    devices: Sequence[Device], gpus: Sequence[Gpu], order: Sequence[str] | None = None
) -> list[Device]:
    """PyTorch's devices with the driver's spelling of their UUIDs, and their links' limits.

    Args:
        devices: as the worker lists them.
        gpus: as the driver lists them.
        order: UUIDs by CUDA index, where that is certain: for a PyTorch that tells no UUID, and for one
            that names the whole GPU where a MIG device of it trains.
    """
    return [_joined(device, gpus, order) for device in devices]


def _joined(device: Device, gpus: Sequence[Gpu], order: Sequence[str] | None) -> Device:
    kind, _, number = device.device.partition(":")
    if kind != "cuda":
        return device
    gpu = find(gpus, device.uuid)
    at = int(number) if number.isdigit() else 0
    ordered = find(gpus, order[at]) if order is not None and at < len(order) else None
    if ordered is not None and (gpu is None or gpu.index == ordered.index):
        gpu = ordered
    if gpu is None:
        return device
    limits = PcieMax(generation_max=gpu.pcie_generation_max, width_max=gpu.pcie_width_max)
    known = limits.generation_max is not None or limits.width_max is not None
    return structs.replace(device, uuid=gpu.uuid, pcie=limits if known else device.pcie)
