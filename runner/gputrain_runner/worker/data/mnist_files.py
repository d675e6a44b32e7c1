"""Digit images from files: MNIST's IDX files, gzipped or not, or one `.npz` as Keras ships it."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dataset import DataError

SIDE = 28
CLASSES = 10
SUBFOLDERS = ("", "raw", "MNIST/raw", "mnist")
"""Where in a folder the files may lie; torchvision puts them in `MNIST/raw`."""

NPZ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What NumPy and zipfile raise for a file that is cut short, damaged, pickled or encrypted."""

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Digits:
    """Images (samples, 28, 28) uint8 and their labels (samples,) uint8, 0-9."""

    images: NDArray[np.uint8]
    labels: NDArray[np.uint8]


def read(path: Path, validation: bool) -> tuple[Digits, Digits | None]:
    """The training digits of a folder or an `.npz` file and, if asked for, those for validation.

    DataError names the file and what is wrong with it.
    """
    try:
        if path.is_dir():
            return _from_folder(path, "train"), _from_folder(path, "t10k") if validation else None
        if not path.exists():
            raise DataError(f"{path}: there is no such file or folder")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if path.suffix != ".npz":
        raise DataError(f"{path}: allowed: a folder of MNIST IDX files, or one file whose name ends in .npz")
    return _from_npz(path, validation)


# ------------------------------------------------------------------------------ IDX


def _from_folder(folder: Path, prefix: str) -> Digits:
    images_path = _find(folder, f"{prefix}-images", "idx3-ubyte")
    labels_path = _find(folder, f"{prefix}-labels", "idx1-ubyte")
    images = _read_idx(images_path, 3)
    labels = _read_idx(labels_path, 1)
    return _checked(images, labels, str(images_path), str(labels_path))


def _find(folder: Path, stem: str, kind: str) -> Path:
    """The file of that name, with `-` or `.` before its kind as found in the wild, gzipped or not."""
    names = [f"{stem}{joint}{kind}{ending}" for ending in ("", ".gz") for joint in "-."]
    for path in (folder / below / name for below in SUBFOLDERS for name in names):
        if path.is_file():
            return path
    raise DataError(f"{folder}: has no {names[0]} (or {', '.join(names[1:])})")


def _read_idx(path: Path, dimensions: int) -> Array:
    """The unsigned bytes of an IDX file of so many dimensions."""
    content = _content(path)
    expected = bytes([0, 0, 8, dimensions])
    header = 4 * (1 + dimensions)
    if content[:4] != expected:
        raise DataError(
            f"{path}: begins with {bytes(content[:4]).hex() or 'nothing'}, allowed: {expected.hex()} "
            f"(IDX, unsigned bytes, {dimensions} dimension{'s' if dimensions > 1 else ''})"
        )
    if len(content) < header:
        raise DataError(f"{path}: ends within its header, after {len(content)} of {header} bytes")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", dimensions, 4))
    promised = int(np.prod(shape, dtype=object))
    if len(content) - header != promised:
        raise DataError(
            f"{path}: holds {len(content) - header:,} bytes of data, its header says "
            f"{' x '.join(f'{size:,}' for size in shape)} = {promised:,}"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        # What it holds decides, not its name: browsers unpack a download and keep its ending.
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: not a whole gzip file: {error}") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


# ------------------------------------------------------------------------------ npz


def _from_npz(path: Path, validation: bool) -> tuple[Digits, Digits | None]:
    parts = ("train", "test") if validation else ("train",)
    arrays = _read_npz(path, [f"{letter}_{part}" for part in parts for letter in "xy"])
    digits = [
        _checked(arrays[f"x_{part}"], arrays[f"y_{part}"], f"{path}: x_{part}", f"{path}: y_{part}")
        for part in parts
    ]
    return digits[0], digits[1] if validation else None


def _read_npz(path: Path, keys: list[str]) -> dict[str, Array]:
    try:
        archive = np.load(path, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise DataError(f"{path}: holds one array, allowed: an .npz archive of several")
        with archive:
            for key in keys:
                if key not in archive:
                    raise DataError(f"{path}: has no array {key}; it has {', '.join(archive) or 'none'}")
            return {key: archive[key] for key in keys}
    except DataError:
        raise
    except NPZ_ERRORS as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise DataError(f"{path}: cannot be read as an .npz archive: {reason}") from None


# --------------------------------------------------------------------------- checks


def _checked(images: Array, labels: Array, images_at: str, labels_at: str) -> Digits:
    """The pair, once images and labels are what they must be and as many."""
    if images.dtype != np.uint8:
        raise DataError(f"{images_at}: images of type {images.dtype}, allowed: uint8")
    if images.ndim == 2 and images.shape[1] == SIDE * SIDE:
        images = images.reshape(-1, SIDE, SIDE)
    if images.ndim != 3 or images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"{images_at}: shape {images.shape}, allowed: (samples, {SIDE}, {SIDE})")
    if labels.dtype.kind not in "iu":
        raise DataError(f"{labels_at}: labels of type {labels.dtype}, allowed: whole numbers")
    if labels.ndim != 1:
        raise DataError(f"{labels_at}: shape {labels.shape}, allowed: (samples,)")
    if len(images) != len(labels):
        raise DataError(f"{labels_at}: {len(labels):,} labels for {len(images):,} images in {images_at}")
    if not len(images):
        raise DataError(f"{images_at}: holds no images")
    if labels.min() < 0 or labels.max() >= CLASSES:
        wrong = int(labels.max()) if labels.max() >= CLASSES else int(labels.min())
        raise DataError(f"{labels_at}: has the label {wrong}, allowed: 0 to {CLASSES - 1}")
    return Digits(images, labels.astype(np.uint8))
