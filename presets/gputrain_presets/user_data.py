"""Data for a model of the user's own: random numbers of given shapes, or arrays in files."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .tables import Fraction, NonNegativeInt, PositiveInt, Table

Number = Literal["float32", "int64"]
FileName = Annotated[str, Meta(min_length=1, max_length=4096)]

NO_LIMIT = 2**53 - 1
"""More samples than there are; a whole number that every reader of JSON can hold."""


class Numbers(Table, frozen=True, kw_only=True):
    """The numbers that each sample has, as inputs or as targets."""

    shape: Annotated[list[PositiveInt], Meta(max_length=8)]
    """Without the dimension of the batch: [] is one number for each sample."""
    dtype: Number = "float32"
    classes: PositiveInt | None = None
    """Where dtype is int64: the numbers are whole, from 0 to one less than this."""


class RandomData(Table, frozen=True, kw_only=True, tag_field="kind", tag="random"):
    """Random inputs with traces of their targets in them, so that there is something to learn."""

    inputs: Numbers
    targets: Numbers
    training_samples: PositiveInt
    validation_samples: NonNegativeInt = 0
    seed: NonNegativeInt = 0


class FilesData(Table, frozen=True, kw_only=True, tag_field="kind", tag="files"):
    """Arrays whose first dimension is the samples: .npy, .npz or IDX files, the last also gzipped."""

    path: FileName = "."
    """The folder that the files lie in, or an .npz archive whose arrays are then named instead."""
    inputs: FileName
    targets: FileName
    validation_inputs: FileName | None = None
    validation_targets: FileName | None = None
    validation_share: Fraction = 0.0
    """The share of the samples that is kept for validation, chosen at random."""
    training_samples: PositiveInt = NO_LIMIT
    """The most that are trained on; all there are, if not given."""
    input_dtype: Number | None = None
    """What the inputs become. If not given: bytes and fractions float32, other whole numbers int64."""
    input_scale: float | None = None
    """What float32 inputs are multiplied by. If not given: 1/255 where the file holds bytes, else 1."""
    target_dtype: Number | None = None
    """What the targets become. If not given: whole numbers int64, fractions float32."""
    seed: NonNegativeInt = 0
    """Of the choice of samples for validation."""

    @property
    def validation_samples(self) -> int | None:
        """Not known before the files are read, but where there will be none."""
        return None if self.validation_inputs is not None or self.validation_share else 0
