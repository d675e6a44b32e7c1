"""What a data set is once loaded: samples on the host, split for training and validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class DataError(ValueError):
    """Data that cannot be had; the text is one line for the user."""


class AnySplit(Protocol):
    """What training asks of a split, wherever its samples lie; also a `Dataset` to PyTorch's DataLoader."""

    def __len__(self) -> int:
        """How many samples there are."""

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """One sample without a batch dimension: its input and its target."""

    def gather(
        self, chosen: Tensor | slice, into: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The samples at these places (int64), in that order: inputs (chosen, ...) and targets (chosen, ...).

        Without `into`, memory of just that shape to be filled, a slice may be given as a view of the
        split. DataError names a file that cannot be read.
        """


@dataclass(frozen=True, slots=True)
class Split:
    """Samples and what to learn from them, in host memory and contiguous.

    Attributes:
        inputs: (samples, ...) float32, or whole numbers where they stand for words or the like.
        targets: (samples, ...) float32 where numbers are learnt, int64 where labels are, most often
            (samples, outputs) and (samples,).
    """

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return self.inputs.shape[0]

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """One sample: its input and its target."""
        return self.inputs[index], self.targets[index]

    def gather(
        self, chosen: Tensor | slice, into: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The chosen samples in that order: copied for indices or into `into`, else a view for a slice."""
        if isinstance(chosen, slice):
            inputs, targets = self.inputs[chosen], self.targets[chosen]
            return (inputs, targets) if into is None else (into[0].copy_(inputs), into[1].copy_(targets))
        if into is not None:
            torch.index_select(self.inputs, 0, chosen, out=into[0])
            torch.index_select(self.targets, 0, chosen, out=into[1])
            return into
        return self.inputs.index_select(0, chosen), self.targets.index_select(0, chosen)


@dataclass(frozen=True, slots=True)
class Dataset:
    """The data of a preset.

    Attributes:
        description: what it is, in words; begins with "synthetic" where it is.
    """

    training: AnySplit
    validation: AnySplit | None
    description: str
    synthetic: bool
