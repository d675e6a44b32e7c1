"""Columns of extremes as rows of characters: braille dots, block eighths or ASCII."""

from __future__ import annotations

from collections.abc import Sequence

from ..series import Column
from .glyphs import GlyphName

COLUMNS_PER_CELL: dict[GlyphName, int] = {"braille": 2, "block": 1, "ascii": 1}
"""How many columns of a series one character shows side by side."""

_BRAILLE_BITS = ((0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08))
"""The bit of each dot, from the lowest up, in the left and the right half of a braille character."""

_BRAILLE = (" ", *(chr(0x2800 + bits) for bits in range(1, 256)))
"""By bits; no dot is a space, one byte on the wire where U+2800 takes three."""

_BLOCKS = " ▁▂▃▄▅▆▇█"

_ASCII = " .':"
"""Nothing, lower half, upper half, both."""


def rows_of(columns: Sequence[Column], height: int, top: float, glyphs: GlyphName) -> list[str]:
    """The line through `columns` in `height` rows, uppermost first, for a range of 0 to `top`.

    The first column is the one before the window: it is not drawn, but the first drawn one is joined to it.
    There are `1 + n * COLUMNS_PER_CELL[glyphs]` columns; each row has n characters. Values outside the range
    are drawn at its edge.
    """
    if glyphs == "block":
        return _block_rows(columns[1:], height, top)
    levels = _joined(columns, height * (4 if glyphs == "braille" else 2), top)[1:]
    return _braille_rows(levels, height) if glyphs == "braille" else _ascii_rows(levels, height)


def _level(value: float, levels: int, top: float) -> int:
    if top <= 0 or value <= 0:
        return 0
    return levels - 1 if value >= top else round(value / top * (levels - 1))


def _joined(columns: Sequence[Column], levels: int, top: float) -> list[tuple[int, int] | None]:
    """Lowest and highest level of each column, stretched to its left neighbour: no holes in steep slopes."""
    joined: list[tuple[int, int] | None] = []
    before: tuple[int, int] | None = None
    for column in columns:
        if column is None:
            joined.append(None)
            before = None
            continue
        low = _level(column[0], levels, top)
        high = low if column[1] == column[0] else _level(column[1], levels, top)
        own = low, high
        if before is not None:
            low = min(low, before[1] + 1)
            high = max(high, before[0] - 1)
        joined.append((low, high))
        before = own
    return joined


def _braille_rows(levels: Sequence[tuple[int, int] | None], height: int) -> list[str]:
    width = len(levels) // 2
    bits = [bytearray(width) for _ in range(height)]
    for x, level in enumerate(levels):
        if level is None:
            continue
        column_bits, cell = _BRAILLE_BITS[x & 1], x >> 1
        for dot in range(level[0], level[1] + 1):
            bits[height - 1 - (dot >> 2)][cell] |= column_bits[dot & 3]
    return ["".join([_BRAILLE[byte] for byte in row]) for row in bits]


def _ascii_rows(levels: Sequence[tuple[int, int] | None], height: int) -> list[str]:
    halves = [bytearray(len(levels)) for _ in range(height)]
    for x, level in enumerate(levels):
        if level is None:
            continue
        for half in range(level[0], level[1] + 1):
            halves[height - 1 - (half >> 1)][x] |= 1 << (half & 1)
    return ["".join([_ASCII[byte] for byte in row]) for row in halves]


def _block_rows(columns: Sequence[Column], height: int, top: float) -> list[str]:
    """Bars from the bottom up to each column's highest value; what is measured shows at least one eighth."""
    eighths = [None if column is None else 1 + _level(column[1], height * 8, top) for column in columns]
    return [
        "".join(
            [" " if filled is None else _BLOCKS[min(8, max(0, filled - 8 * below))] for filled in eighths]
        )
        for below in range(height - 1, -1, -1)
    ]
