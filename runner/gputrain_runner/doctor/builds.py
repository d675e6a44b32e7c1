"""Which builds of PyTorch can run on which cards and drivers, from CUDA's release notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .facts import Capability, Facts

_FIRST_CUDA: tuple[tuple[Capability, Capability], ...] = (
    ((8, 0), (11, 0)),
    ((8, 6), (11, 1)),
    ((8, 9), (11, 8)),
    ((10, 0), (12, 8)),
)
"""The first CUDA version whose compiler knows a compute capability, each up to the next."""
_LAST_CUDA: tuple[tuple[Capability, int], ...] = (((5, 0), 11), ((7, 5), 12))
"""Cards below a compute capability, and the last major CUDA version that compiles for them."""


def impossible(capability: Capability, cuda: Capability) -> str | None:
    """Why no build for that CUDA version can have kernels for such a card; None where one may have."""
    first = max((first for card, first in _FIRST_CUDA if card <= capability), default=None)
    if first is not None and cuda < first:
        return f"such cards need CUDA {first[0]}.{first[1]} or newer"
    last = next((last for card, last in _LAST_CUDA if capability < card), None)
    if last is not None and cuda[0] > last:
        return f"CUDA {last} was the last for such cards"
    return None


def runs(kernels: Sequence[str], capability: Capability) -> str | None:
    """How kernels for some architectures run on a card: "compiled", "made on the fly", or None: not.

    Args:
        kernels: as PyTorch lists them: "sm_90", "sm_90a" (that card alone), "compute_90" (an
            intermediate form that the driver compiles for its card).
        capability: the card's.
    """
    ways = set()
    for kernel in kernels:
        found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", kernel)
        if found is None:
            continue
        kind, major, minor, only = found.groups()
        made_for = int(major), int(minor)
        if kind == "sm" and (made_for == capability or (not only and _same_line(made_for, capability))):
            ways.add("compiled")
        elif kind == "compute" and not only and made_for <= capability:
            ways.add("made on the fly")
    return "compiled" if "compiled" in ways else ways.pop() if ways else None


def _same_line(made_for: Capability, capability: Capability) -> bool:
    """A kernel runs on cards of its major version from its minor version on."""
    return made_for[0] == capability[0] and made_for[1] <= capability[1]


def reinstall(facts: Facts) -> str:
    """How to get a build which driver and cards can run."""
    wheel, version = "cu126", "torch"
    newest = facts.driver.cuda
    if newest is not None and newest < (11, 0):
        return "update the driver: no build of PyTorch that this program supports runs on it"
    cards = [gpu.capability for gpu in facts.driver.gpus if gpu.capability is not None]
    if newest is not None and newest[0] < 12:
        wheel, version = "cu118", "'torch<2.8'"
    elif newest is not None and newest[0] >= 13 and all(card >= (7, 5) for card in cards):
        wheel = "cu130"
    elif any(card >= (10, 0) for card in cards):
        wheel = "cu128"
    return f"pip install --force-reinstall {version} --index-url https://download.pytorch.org/whl/{wheel}"
