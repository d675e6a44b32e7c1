"""CUDA's order of the GPUs, worked out from NVML's list and CUDA_VISIBLE_DEVICES without asking CUDA."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..hardware import Gpu
from .uuids import bare

VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
_OLD_MIG = re.compile(r"MIG-(GPU-[0-9a-fA-F-]+)/(\d+)/(\d+)$")


@dataclass(frozen=True, slots=True)
class MigDevice:
    """A part of a GPU that CUDA takes for a GPU."""

    uuid: str
    gpu_instance: int | None = None
    compute_instance: int | None = None


@dataclass(frozen=True, slots=True)
class ListedGpu:
    """A GPU as NVML lists it."""

    index: int
    uuid: str | None
    name: str | None = None
    pci_bus_id: str | None = None
    mig: tuple[MigDevice, ...] | None = None
    """Its MIG devices; None where MIG is off."""


@dataclass(frozen=True, slots=True)
class CudaOrder:
    """What CUDA numbers 0, 1, 2 ..."""

    uuids: tuple[str, ...]
    """By CUDA index; in NVML's spelling."""
    hidden: tuple[str, ...]
    """GPUs that CUDA cannot use here."""
    certain: bool
    """False where CUDA sorts GPUs of different kinds by speed, which only it knows."""
    problem: str | None = None
    """What is wrong with the variable, in one line."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    places: tuple[int, ...]
    problem: str | None = None


Form = Literal["index", "GPU", "MIG"]


def listed(gpus: Sequence[Gpu]) -> list[ListedGpu]:
    """The GPUs of a reading: a MIG device is there an entry of its own with its GPU's index."""
    found = []
    for gpu in gpus:
        if gpu.mig is not None:
            continue
        parts = tuple(
            MigDevice(part.uuid)
            for part in gpus
            if part.index == gpu.index and part.mig is not None and part.uuid is not None
        )
        divided = bool(parts) or (gpu.detail is not None and bool(gpu.detail.mig_mode))
        bus = gpu.detail.pci_bus_id if gpu.detail is not None else None
        found.append(ListedGpu(gpu.index, gpu.uuid, gpu.name, bus, parts if divided else None))
    return found


def cuda_order(gpus: Sequence[ListedGpu], environment: Mapping[str, str]) -> CudaOrder:
    """CUDA's order under these environment variables.

    Rules (NVIDIA's CUDA programming guide and MIG guide, and what PyTorch does where it counts GPUs by
    itself): the list ends at its first entry that names nothing; an entry named twice empties it; its
    first entry decides whether it names indices, GPUs or MIG devices; a UUID may be cut short as long
    as it names one GPU; one process has one MIG device, and no whole GPU beside it.
    """
    by_bus, certain = _by_cuda_index(gpus, environment.get(ORDER, ""))
    named = environment.get(VISIBLE)
    entries = [gpu.uuid or "" for gpu in by_bus]
    migs = [mig for gpu in by_bus for mig in gpu.mig or ()]
    problem = None
    if named is None:
        visible = _taken(by_bus)
    else:
        form = _form(named)
        if form == "MIG":
            chosen = _by_mig(named, by_bus, migs)
            visible = [migs[place].uuid for place in chosen.places[:1]]
        else:
            chosen = _by_uuid(named, entries) if form == "GPU" else _by_index(named, len(entries))
            visible = _taken([by_bus[place] for place in chosen.places])
        certain = certain or form != "index"
        problem = chosen.problem
    seen = {bare(uuid) for uuid in visible}
    hidden = [gpu.uuid for gpu in gpus if gpu.uuid and not _shown(gpu, seen)]
    return CudaOrder(tuple(visible), tuple(hidden), certain, problem)


def _by_cuda_index(gpus: Sequence[ListedGpu], order: str) -> tuple[list[ListedGpu], bool]:
    """The GPUs as CUDA counts them, and whether that is certain.

    Without CUDA_DEVICE_ORDER=PCI_BUS_ID the fastest comes first; where all are of a kind that leaves them
    in the order of the bus.
    """
    by_bus = sorted(gpus, key=lambda gpu: (gpu.pci_bus_id or "", gpu.index))
    alike = len({gpu.name for gpu in gpus}) <= 1
    return by_bus, order.strip().upper() == "PCI_BUS_ID" or alike


def _taken(gpus: Sequence[ListedGpu]) -> list[str]:
    """What CUDA takes of these GPUs: the first MIG device where there is one, else those without MIG."""
    inside = [mig for gpu in gpus for mig in gpu.mig or ()]
    if inside:
        return [inside[0].uuid]
    return [gpu.uuid or "" for gpu in gpus if gpu.mig is None]


def _shown(gpu: ListedGpu, seen: set[str]) -> bool:
    names = [gpu.uuid or "", *(mig.uuid for mig in gpu.mig or ())]
    return any(bare(name) in seen for name in names)


def _form(named: str) -> Form:
    first = named.strip()
    if first.startswith("MIG-"):
        return "MIG"
    return "GPU" if first.startswith("GPU-") else "index"


def _entries(named: str) -> list[str]:
    return [entry.strip() for entry in named.split(",")]


def _collect(named: str, places: Sequence[int | None], what: str) -> _Chosen:
    """The places up to the first entry that names nothing; none at all where one is named twice."""
    found: list[int] = []
    for entry, place in zip(_entries(named), places, strict=True):
        if place is None:
            ending = "hides every GPU" if not found else "hides all that follow"
            return _Chosen(
                tuple(found), f"{VISIBLE}={named}: {entry or 'an empty entry'!r} {what}; it {ending}"
            )
        if place in found:
            return _Chosen((), f"{VISIBLE}={named}: {entry!r} is named twice, which hides every GPU")
        found.append(place)
    return _Chosen(tuple(found))


def _by_index(named: str, count: int) -> _Chosen:
    if not named.strip():
        return _Chosen((), f"{VISIBLE} is empty, which hides every GPU: unset it to use them")
    places: list[int | None] = []
    for entry in _entries(named):
        # As C's strtol: what follows the digits is ignored.
        digits = re.match(r"[+-]?\d+", entry)
        number = int(digits.group()) if digits else -1
        places.append(number if 0 <= number < count else None)
    there = "there is no GPU" if not count else f"there are GPUs 0 to {count - 1}"
    return _collect(named, places, f"names no GPU, {there}" if count > 1 or not count else "names no GPU")


def _by_uuid(named: str, uuids: Sequence[str]) -> _Chosen:
    places = [_only(entry, uuids) if entry.startswith("GPU-") else None for entry in _entries(named)]
    return _collect(named, places, "names no GPU, or more than one")


def _only(start: str, uuids: Sequence[str]) -> int | None:
    """The one that begins like this; None where none or several do."""
    found = [at for at, uuid in enumerate(uuids) if uuid.lower().startswith(start.lower())]
    return found[0] if len(found) == 1 else None


def _by_mig(named: str, gpus: Sequence[ListedGpu], migs: Sequence[MigDevice]) -> _Chosen:
    places = [_mig(entry, gpus, migs) for entry in _entries(named)]
    return _collect(named, places, "names no MIG device, or more than one")


def _mig(entry: str, gpus: Sequence[ListedGpu], migs: Sequence[MigDevice]) -> int | None:
    """By its UUID, or as drivers before R470 name it: MIG-GPU-<uuid>/<GPU instance>/<compute instance>."""
    old = _OLD_MIG.match(entry)
    if old is None:
        return _only(entry, [mig.uuid for mig in migs]) if entry.startswith("MIG-") else None
    parent, instances = old.group(1), (int(old.group(2)), int(old.group(3)))
    inside = [
        mig
        for gpu in gpus
        if gpu.uuid is not None and bare(gpu.uuid) == bare(parent)
        for mig in gpu.mig or ()
        if (mig.gpu_instance, mig.compute_instance) == instances
    ]
    return migs.index(inside[0]) if inside else None
