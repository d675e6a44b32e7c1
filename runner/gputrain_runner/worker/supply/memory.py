"""Memory on the host that batches pass through: buffers used again and again, and what is shared."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import torch
from torch import Tensor

from ..data import AnySplit
from .interface import SupplyError

CHUNK_BYTES = 4 << 20
"""Gathered in one go; whoever gathers for another can be stopped in between."""
SHARED_MEMORY = "/dev/shm"


class Buffers:
    """Room for one batch of a split."""

    def __init__(self, split: AnySplit, batch_size: int, pinned: bool) -> None:
        """Take the memory.

        Args:
            batch_size: the most samples it is to hold.
            pinned: whether a GPU copies from it by itself; needs CUDA.

        Raises:
            SupplyError: the host does not give as much pinned memory.
            RuntimeError: nor as much memory at all.
        """
        self._rows = max(1, CHUNK_BYTES // sample_bytes(split))
        try:
            self.inputs, self.targets = (
                torch.empty((batch_size, *none.shape[1:]), dtype=none.dtype, pin_memory=pinned)
                for none in split.gather(slice(0, 0))
            )
        except RuntimeError:
            if not pinned:
                raise
            wanted = in_words(batch_size * sample_bytes(split))
            raise SupplyError(f"out of memory: this host cannot pin another {wanted} for a batch") from None

    def fill(
        self, split: AnySplit, chosen: Tensor, stopped: Callable[[], bool] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Gather the chosen samples; what of the buffers holds them, in that order.

        Args:
            chosen: int64, at most as many as there is room for.
            stopped: asked now and then; once it is true nobody wants the rest.
        """
        count = len(chosen)
        inputs, targets = self.inputs[:count], self.targets[:count]
        for first in range(0, count, self._rows):
            if stopped is not None and stopped():
                break
            rows = slice(first, first + self._rows)
            split.gather(chosen[rows], into=(inputs[rows], targets[rows]))
        return inputs, targets


def sample_bytes(split: AnySplit) -> int:
    """Bytes of a sample with its target."""
    return sum(none.element_size() * math.prod(none.shape[1:]) for none in split.gather(slice(0, 0)))


def free_shared_memory() -> int | None:
    """Bytes that processes can still share with each other; None where it is not bounded by itself."""
    try:
        found = os.statvfs(SHARED_MEMORY)
    except (OSError, AttributeError):
        return None
    return found.f_bavail * found.f_frsize


def in_words(count: int) -> str:
    """That many bytes, as 1.2 GB or 3.4 MB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
