"""Large tensors of random numbers: quickly, in place, and the same for a seed whatever the machine has."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from .dataset import DataError

CHUNK = 1 << 18
"""Numbers drawn from one seed at a time: 1 MB, which stays in the cache."""


def empty(*shape: int, dtype: str = "float32") -> Tensor:
    """An uninitialised tensor of that shape and type; DataError where there is no memory for it.

    NumPy asks the kernel for huge pages where PyTorch does not: fewer page faults while it is
    filled and fewer misses when rows are picked from it at random.
    """
    try:
        return torch.from_numpy(np.empty(shape, dtype=dtype))
    except (MemoryError, ValueError):  # ValueError: more than an address can reach.
        sizes = " x ".join(f"{size:,}" for size in shape)
        needed_gb = math.prod(shape) * np.dtype(dtype).itemsize / 1e9
        raise DataError(
            f"data of {sizes} {dtype} needs {needed_gb:,.1f} GB, more memory than there is: use fewer samples"
        ) from None


def generator(seed: int, stream: int) -> torch.Generator:
    """A source of random numbers of its own for each seed and stream."""
    return torch.Generator().manual_seed(_seeds(seed, stream, 1)[0])


def fill_normal(into: Tensor, seed: int, stream: int) -> None:
    """Fill a contiguous tensor with standard-normal numbers, from several threads.

    PyTorch draws them fast but with one thread, so each thread here takes other chunks.
    """
    chunks = into.view(-1).split(CHUNK)
    with ThreadPoolExecutor(_threads()) as pool:
        for _ in pool.map(_fill, chunks, _seeds(seed, stream, len(chunks))):
            pass


def _fill(chunk: Tensor, seed: int) -> None:
    chunk.normal_(generator=torch.Generator().manual_seed(seed))


def _seeds(seed: int, stream: int, count: int) -> list[int]:
    """Seeds for PyTorch that have nothing to do with each other."""
    return [
        int(word) for word in np.random.SeedSequence((seed, stream)).generate_state(count, dtype=np.uint64)
    ]


def _threads() -> int:
    """As many as the cores this process may use, up to where memory is the limit."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 16)
