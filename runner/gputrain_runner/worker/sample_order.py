"""The order in which training samples are taken: reshuffled every epoch, the place kept over changes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the training data to come back to."""

    order: Tensor
    taken: int
    epochs: int
    generator_state: Tensor


class SampleOrder:
    """Which samples come next, each once an epoch.

    Attributes:
        order: (samples,) int64 on the host; replaced with every epoch, never changed.
        taken: how many of it are taken.
        epochs: epochs finished.
    """

    def __init__(self, samples: int, batch_size: int, drop_last: bool, seed: int) -> None:
        self.batch_size = batch_size
        self.epochs = 0
        self.taken = 0
        self._samples = samples
        self._drop_last = drop_last
        self._generator = torch.Generator().manual_seed(seed)
        self.order = torch.randperm(samples, generator=self._generator)

    @property
    def exhausted(self) -> bool:
        """Whether the epoch has no further batch."""
        left = self._samples - self.taken
        return left < self.batch_size if self._drop_last else left == 0

    @property
    def left(self) -> int:
        """How many samples of the epoch are not taken yet."""
        return self._samples - self.taken

    @property
    def epochs_done(self) -> int:
        """Epochs finished, the one counted whose last batch was taken and that no other follows yet."""
        return self.epochs + self.exhausted

    def begin_epoch(self) -> None:
        """Count the epoch and shuffle anew."""
        self.epochs += 1
        self.order = torch.randperm(self._samples, generator=self._generator)
        self.taken = 0

    def advance(self) -> int:
        """Take the next batch; the number of samples in it."""
        samples = min(self.batch_size, self._samples - self.taken)
        self.taken += samples
        return samples

    def place(self) -> Place:
        """Where it stands."""
        return Place(self.order, self.taken, self.epochs, self._generator.get_state())

    def go_back(self, place: Place) -> None:
        """Stand where it stood."""
        self.order = place.order
        self.taken = place.taken
        self.epochs = place.epochs
        self._generator.set_state(place.generator_state)
