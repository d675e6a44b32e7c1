"""What every data path offers to the step."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from ..data import AnySplit
from ..phases import PhaseClock


class SupplyError(RuntimeError):
    """A data path that cannot work here; the text is one line for the user."""


class Supply(ABC):
    """Batches of one split on one device, in the order it is given.

    The order is the trainer's: after a new epoch, a change or a way back, `begin` says from where on to
    go. What was prepared for that very place is kept, for another it is dropped.
    """

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        self.split = split
        self.device = device
        self.workers = workers
        self._order = torch.empty(0, dtype=torch.int64)
        self._taken = 0
        self._batch_size = 0

    def begin(self, order: Tensor, start: int, batch_size: int) -> None:
        """Go on with `order[start:]`, in batches of `batch_size`, the last one being what is left.

        Args:
            order: (samples,) int64 on the host; every index once. Not changed by anybody.
            start: how many of them are taken already.
            batch_size: samples in a batch.
        """
        here = order is self._order and start == self._taken and batch_size == self._batch_size
        self._order, self._taken, self._batch_size = order, start, batch_size
        if not here:
            self._prepare()

    @abstractmethod
    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """The next batch on the device, valid until the next is asked for.

        Marks the end of `data` and of `h2d`. Never called past the end of the order. After an exception
        `begin` comes first.
        """

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of processes, threads, streams and buffers, within a second; not used afterwards."""

    def _prepare(self) -> None:  # noqa: B027 - most prepare nothing
        """Drop what was prepared; the batches from the place on are wanted now."""

    def _take(self) -> slice:
        """Where in the order the next batch is; it counts as taken from now on."""
        first = self._taken
        self._taken += self._batch_size
        return slice(first, self._taken)
