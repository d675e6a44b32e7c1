"""Data paths: the ways in which a batch comes from the data set to the device.

A data path is a file here with a `Supply`, and its line in `_PATHS`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..data import AnySplit
from .host import HostSupply
from .interface import Supply, SupplyError
from .loader import LoaderSupply
from .pinned import PinnedSupply
from .prefetch import PrefetchSupply
from .resident import ResidentSupply

__all__ = ["Supply", "SupplyError", "build"]

_PATHS: dict[str, Callable[[AnySplit, torch.device, int], Supply]] = {
    "loader": LoaderSupply,
    "host": HostSupply,
    "pinned": PinnedSupply,
    "prefetch": PrefetchSupply,
    "resident": ResidentSupply,
}


def build(path: str, split: AnySplit, device: torch.device, workers: int) -> Supply:
    """The supply for a `data_path`; `workers` is for those that use processes.

    SupplyError says in one line why this path cannot serve this data on this device.
    """
    return _PATHS[path](split, device, workers)
