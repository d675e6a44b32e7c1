"""Arrays in files of the user's: .npy, .npz and IDX, also gzipped; what a file is, its content tells."""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mnist_files import NPZ_ERRORS

Array = NDArray[Any]

_NPY, _ZIP, _GZIP, _IDX = b"\x93NUMPY", b"PK", b"\x1f\x8b", b"\0\0"
_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_FORMATS = "a .npy, .npz or IDX file"


class ArrayError(ValueError):
    """A file that holds no such array; the text is one line that names the file."""


def read(folder_or_archive: Path, name: str) -> Array:
    """The array of that name: a file's in a folder, or one of an `.npz` archive's.

    An array in an `.npy` file stays on the disk until it is read. ArrayError says which file is wrong,
    and how.
    """
    in_archive = _readable(folder_or_archive, folder_or_archive.is_file)
    path = folder_or_archive if in_archive else folder_or_archive / name
    array: Array = _readable(path, lambda: _named(path, name) if in_archive else _from_file(path))
    at = f"{path}: {name}" if in_archive else str(path)
    if array.dtype.kind not in "buif":
        raise ArrayError(f"{at}: holds {_kind(array)}, allowed: numbers")
    if array.ndim == 0 or not len(array):
        raise ArrayError(f"{at}: holds no samples; its shape is {array.shape}")
    return array


def _from_file(path: Path) -> Array:
    if path.is_dir():
        raise ArrayError(f"{path}: is a folder, allowed: {_FORMATS}")
    with path.open("rb") as file:
        start = file.read(len(_NPY))
    if start == _NPY:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
        return array
    if start[:2] == _ZIP:
        return _named(path, None)
    if start[:2] not in (_GZIP, _IDX):
        raise ArrayError(f"{path}: is not {_FORMATS}: it begins with {start[:4].hex() or 'nothing'}")
    content = path.read_bytes()
    if start[:2] == _GZIP:
        content = gzip.decompress(content)
    if content[: len(_NPY)] == _NPY:
        unpacked: Array = np.load(io.BytesIO(content), allow_pickle=False)
        return unpacked
    return _idx(path, content)


def _named(path: Path, name: str | None) -> Array:
    """The array of that name in an archive; without a name the only one there is."""
    with path.open("rb") as file:
        if file.read(2) != _ZIP:
            raise ArrayError(f"{path}: is not an .npz archive; allowed here: one, or a folder")
    with np.load(path, allow_pickle=False) as archive:
        names = list(archive)
        if name is None and len(names) == 1:
            name = names[0]
        if name not in names:
            there = ", ".join(names) or "none"
            if name is None:
                how = "data.path takes the archive, and inputs and targets then the arrays' names"
                raise ArrayError(f"{path}: holds the arrays {there}; {how}")
            raise ArrayError(f"{path}: has no array {name!r}; it has {there}")
        array: Array = archive[name]
        return array


def _idx(path: Path, content: bytes) -> Array:
    kind, dimensions = (content[2], content[3]) if len(content) >= 4 else (0, 0)
    if content[:2] != _IDX or kind not in _IDX_TYPES or not dimensions:
        raise ArrayError(f"{path}: is not {_FORMATS}: it begins with {content[:4].hex() or 'nothing'}")
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise ArrayError(f"{path}: ends within its header, after {len(content)} of {start} bytes")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", dimensions, 4))
    dtype = np.dtype(_IDX_TYPES[kind])
    promised = math.prod(shape) * dtype.itemsize
    if len(content) - start != promised:
        sizes = " x ".join(f"{size:,}" for size in shape)
        raise ArrayError(
            f"{path}: holds {len(content) - start:,} bytes of data, its header says {sizes} numbers of "
            f"{dtype.itemsize} bytes = {promised:,}"
        )
    return np.frombuffer(content, dtype, offset=start).reshape(shape)


def _readable(path: Path, look: Callable[[], Any]) -> Any:
    """What `look` finds; what NumPy and others raise of a damaged file is one line."""
    try:
        return look()
    except ArrayError:
        raise
    except FileNotFoundError:
        raise ArrayError(f"{path}: there is no such file") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ArrayError(f"{path}: is not whole: {error}") from None
    except (MemoryError, *NPZ_ERRORS) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise ArrayError(f"{path}: cannot be read: {reason or type(error).__name__}") from None


def _kind(array: Array) -> str:
    words = {"U": "text", "S": "text", "O": "Python objects", "V": "records", "c": "complex numbers"}
    return words.get(array.dtype.kind, str(array.dtype))
