"""What a data set is once loaded: samples on the host, split for training and validation."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


class DataError(ValueError):
    """Data that cannot be had; the text is one line for the user."""


@dataclass(frozen=True, slots=True)
class Split:
    """Samples and what to learn from them, in host memory and contiguous.

    Attributes:
        inputs: (samples, ...) float32.
        targets: (samples, outputs) float32 where numbers are learnt, (samples,) int64 where labels are.
    """

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return self.inputs.shape[0]


@dataclass(frozen=True, slots=True)
class Dataset:
    """The data of a preset.

    Attributes:
        description: what it is, in words; begins with "synthetic" where it is.
    """

    training: Split
    validation: Split | None
    description: str
    synthetic: bool
