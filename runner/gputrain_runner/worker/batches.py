"""The order in which training samples are taken: reshuffled every epoch, position kept over changes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .data import Split


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the training data to come back to."""

    order: Tensor
    taken: int
    epochs: int
    generator_state: Tensor


class Batches:
    """Mini-batches gathered on the host, each sample once an epoch."""

    def __init__(self, split: Split, batch_size: int, drop_last: bool, seed: int) -> None:
        self.batch_size = batch_size
        self.epochs = 0
        """Epochs finished."""
        self._split = split
        self._samples = split.inputs.shape[0]
        self._drop_last = drop_last
        self._generator = torch.Generator().manual_seed(seed)
        self._order = torch.randperm(self._samples, generator=self._generator)
        self._taken = 0

    @property
    def exhausted(self) -> bool:
        """Whether the epoch has no further batch."""
        left = self._samples - self._taken
        return left < self.batch_size if self._drop_last else left == 0

    def begin_epoch(self) -> None:
        """Count the epoch and shuffle anew."""
        self.epochs += 1
        self._order = torch.randperm(self._samples, generator=self._generator)
        self._taken = 0

    def next(self) -> tuple[Tensor, Tensor]:
        """The next batch on the host: inputs (batch, ...) and targets (batch, ...)."""
        chosen = self._order[self._taken : self._taken + self.batch_size]
        self._taken += chosen.shape[0]
        return self._split.inputs.index_select(0, chosen), self._split.targets.index_select(0, chosen)

    def position(self) -> Position:
        """Where it stands."""
        return Position(self._order, self._taken, self.epochs, self._generator.get_state())

    def go_back(self, position: Position) -> None:
        """Stand where it stood."""
        self._order = position.order
        self._taken = position.taken
        self.epochs = position.epochs
        self._generator.set_state(position.generator_state)
