"""A user's own arrays: read from their files, converted, split for training and validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gputrain_presets import PresetError
from gputrain_presets.user_data import FilesData

from .arrays import Array, ArrayError, read
from .dataset import Dataset, Split
from .generation import empty, generator

CHUNK_BYTES = 1 << 24
"""About what is converted at a time, so that little more memory is used than is kept."""
BYTE_SCALE = 1 / 255

_forms: dict[FilesData, tuple[tuple[int, ...], str]] = {}
"""Shape and type of the inputs in files that were looked into: a packed one takes long to."""


@dataclass(frozen=True, slots=True)
class Column:
    """One of a data set's arrays, and what it is to become.

    Attributes:
        key: the key of the preset's file that names it.
        dtype: "float32" or "int64".
        scale: what float32 numbers are multiplied by.
    """

    key: str
    array: Array
    dtype: str
    scale: float = 1.0


def load(data: FilesData, model: object) -> Dataset:
    """The arrays as inputs and targets, float32 or int64.

    PresetError names the key and the file that is wrong, and how.
    """
    inputs, targets = _columns(data, "")
    training_rows, validation_rows = _chosen(data, len(inputs.array))
    training = _split(inputs, targets, training_rows)
    if data.validation_inputs is not None:
        own = _columns(data, "validation_")
        _check_alike(own, (inputs, targets))
        inputs, targets = own
        validation_rows = np.arange(len(inputs.array))
    validation = _split(inputs, targets, validation_rows) if len(validation_rows) else None
    counts = f"{len(training):,}" + (f" + {len(validation):,}" if validation else "")
    what = f"{counts} samples of {_shape(training.inputs)}"
    return Dataset(
        training, validation, f"{data.inputs} and {data.targets} in {data.path}: {what}", synthetic=False
    )


def example_inputs(data: FilesData, samples: int) -> Tensor:
    """Inputs of the shape and type that `load` gives, all 0."""
    if data not in _forms:
        _columns(data, "")
    shape, dtype = _forms[data]
    return torch.zeros(samples, *shape, dtype=getattr(torch, dtype))


def _columns(data: FilesData, prefix: str) -> tuple[Column, Column]:
    """Inputs and targets, as many of the one as of the other."""
    x, y = _array(data, f"{prefix}inputs"), _array(data, f"{prefix}targets")
    if len(x) != len(y):
        names = getattr(data, f"{prefix}targets"), getattr(data, f"{prefix}inputs")
        counts = f"{names[0]} holds {len(y):,} samples, {names[1]} {len(x):,}"
        raise PresetError(f"data.{prefix}targets: {counts}; allowed: as many")
    input_dtype = data.input_dtype or ("float32" if x.dtype.kind in "fb" or x.dtype == np.uint8 else "int64")
    scale = data.input_scale
    if scale is None:
        scale = BYTE_SCALE if x.dtype == np.uint8 and input_dtype == "float32" else 1.0
    target_dtype = data.target_dtype or ("float32" if y.dtype.kind == "f" else "int64")
    if target_dtype == "int64" and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]  # A column of labels, as tables hold them.
    if not prefix:
        _forms[data] = x.shape[1:], input_dtype
    return (
        Column(f"data.{prefix}inputs", x, input_dtype, scale),
        Column(f"data.{prefix}targets", y, target_dtype),
    )


def _check_alike(validation: tuple[Column, Column], training: tuple[Column, Column]) -> None:
    for column, wanted in zip(validation, training, strict=True):
        shape, allowed = column.array.shape[1:], wanted.array.shape[1:]
        if shape != allowed:
            raise PresetError(f"{column.key}: samples of shape {shape}, allowed: {allowed}, as to train on")


def _array(data: FilesData, key: str) -> Array:
    try:
        return read(Path(data.path), getattr(data, key))
    except ArrayError as error:
        raise PresetError(f"data.{key}: {error}") from None


def _chosen(data: FilesData, samples: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The samples to train on and those for validation, chosen at random, each in the files' order."""
    order = torch.randperm(samples, generator=generator(data.seed, stream=0)).numpy()
    kept = max(1, round(samples * data.validation_share)) if data.validation_share else 0
    if kept >= samples:
        raise PresetError(f"data.validation_share: leaves nothing to train on of {samples:,} samples")
    training = order[kept:][: data.training_samples]
    return np.sort(training), np.sort(order[:kept])


def _split(inputs: Column, targets: Column, rows: NDArray[np.int64]) -> Split:
    return Split(_converted(inputs, rows), _converted(targets, rows))


def _converted(column: Column, rows: NDArray[np.int64]) -> Tensor:
    """The chosen rows as a tensor; PresetError where a number is not finite."""
    array = column.array
    into = empty(len(rows), *array.shape[1:], dtype=column.dtype)
    whole = len(rows) == len(array)
    for start, end in _chunks(len(rows), array):
        chunk = array[start:end] if whole else array[rows[start:end]]
        part = into.numpy()[start:end]
        with np.errstate(over="ignore"):  # Told below.
            if column.scale == 1.0:
                np.copyto(part, chunk, casting="unsafe")
            else:
                np.multiply(chunk, column.scale, out=part, dtype=np.float32, casting="unsafe")
        if array.dtype.kind == "f":
            _check_finite(column, rows[start:end], part if column.dtype == "float32" else chunk)
    return into


def _check_finite(column: Column, rows: NDArray[np.int64], numbers: Array) -> None:
    finite = np.isfinite(numbers)
    if not finite.all():
        wrong = rows[int(np.flatnonzero(~finite.reshape(len(rows), -1).all(1))[0])]
        value = numbers[~finite].flat[0]
        at = f"sample {wrong:,}, counted from 0,"
        raise PresetError(f"{column.key}: {at} holds {value}, allowed: finite numbers")


def _chunks(rows: int, array: Array) -> Iterator[tuple[int, int]]:
    step = max(1, CHUNK_BYTES // max(1, array.nbytes // len(array)))
    for start in range(0, rows, step):
        yield start, min(rows, start + step)


def _shape(inputs: Tensor) -> str:
    """`(3, 32, 32) float32`, without the samples."""
    return f"{tuple(inputs.shape[1:])} {str(inputs.dtype).removeprefix('torch.')}"
