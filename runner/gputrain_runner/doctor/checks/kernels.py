"""Checks of PyTorch against each card: has it kernels for it, and does a first one run."""

from __future__ import annotations

from ...telemetry.uuids import bare
from ..builds import impossible, reinstall, runs
from ..facts import Facts, GpuFacts, LoadedDevice, read_version
from ..unit import NOT_TOLD, GpuUnit, Result, note, ok, problem
from ..words import plain


def _kernels(facts: Facts, gpu: GpuFacts) -> Result | None:
    """Exactly once PyTorch is loaded; before, where its CUDA version alone rules the card out."""
    torch, card = facts.torch, gpu.capability
    cuda = read_version(torch.cuda)
    if cuda is None or gpu.lost:
        return None
    if card is None:
        return NOT_TOLD
    name = f"compute capability {card[0]}.{card[1]}"
    why = impossible(card, cuda)
    loaded = torch.loaded
    if loaded is not None and loaded.kernels:
        way = runs(loaded.kernels, card)
        if way == "compiled":
            return ok(f"PyTorch has kernels for {name}")
        if way is not None:
            return note(f"PyTorch has none for {name}, the driver makes them: a slow first start")
        why = f"it has {', '.join(loaded.kernels)}"
    if why is None:
        return None
    return problem(f"PyTorch for CUDA {torch.cuda} has no kernels for {name}: {why}", reinstall(facts))


def _first(facts: Facts, gpu: GpuFacts) -> Result | None:
    device = _loaded(facts, gpu)
    if device is None:
        return None
    if device.error is None:
        return ok("a first kernel of PyTorch ran on it")
    return problem(
        f"a first kernel of PyTorch failed: {plain(device.error)}",
        "see the other lines of this GPU; compute mode, memory left and kernels are the usual causes",
    )


def _loaded(facts: Facts, gpu: GpuFacts) -> LoadedDevice | None:
    """This GPU as the loaded PyTorch sees it; None where it does not."""
    devices = facts.torch.loaded.devices if facts.torch.loaded is not None else ()
    uuids = {bare(one.uuid) for one in (gpu.gpu, *gpu.mig_devices) if one.uuid is not None}
    return next((device for device in devices if device.uuid and bare(device.uuid) in uuids), None)


UNITS = (
    GpuUnit("kernels", "kernels", _kernels, needs_torch=True),
    GpuUnit("first_kernel", "first kernel", _first, needs_torch=True),
)
