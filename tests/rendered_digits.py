"""MNIST-shaped IDX files of rendered digits: a 5 x 7 font, each image moved, sized and spoilt."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FONT = """
.###. ..#.. .###. ####. ...#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# ..##. #.... #.... ....# #...# #...#
#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#.#.# ..#.. ..##. .###. #..#. ....# ####. ..#.. .###. .####
##..# ..#.. .#... ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. #.... ....# ...#. #...# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. .###. .###. ..#.. .###. .###.
"""


def write_idx(folder: Path, training: int, test: int) -> None:
    """Write the four files, gzipped, under MNIST's own names."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(7)
    for prefix, count in (("train", training), ("t10k", test)):
        images, labels = _render(count, random)
        _write(folder / f"{prefix}-images-idx3-ubyte.gz", images)
        _write(folder / f"{prefix}-labels-idx1-ubyte.gz", labels)


def _write(path: Path, array: NDArray[np.uint8]) -> None:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes(), compresslevel=1))


def _render(count: int, random: np.random.Generator) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    rows = [line.split() for line in _FONT.split("\n") if line]
    glyphs = np.array([[[cell == "#" for cell in row[digit]] for row in rows] for digit in range(10)])
    labels = random.integers(0, 10, count).astype(np.uint8)
    images = np.zeros((count, 28, 28))
    for image, label in zip(images, labels, strict=True):
        across, down = random.integers(2, 4), random.integers(2, 4)
        glyph = np.kron(glyphs[label], np.ones((down, across)))
        top = random.integers(0, 28 - glyph.shape[0] + 1)
        left = random.integers(4, 28 - glyph.shape[1] - 3)
        image[top : top + glyph.shape[0], left : left + glyph.shape[1]] = glyph * random.uniform(140, 255)
    images += random.normal(0, 25, images.shape)
    return images.clip(0, 255).astype(np.uint8), labels
