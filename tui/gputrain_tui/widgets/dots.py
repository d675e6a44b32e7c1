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

_SHADE = "░"
"""Below the first curve and above the second."""

_ASCII = " .':"
"""Nothing, lower half, upper half, both."""


_Dots = tuple[Sequence[int], Sequence[int]]
"""Of one column: the levels of its line, and those of its area."""


def rows_of(
    columns: Sequence[Column],
    height: int,
    top: float,
    glyphs: GlyphName,
    filled: Sequence[Column] | None = None,
) -> list[str]:
    """The line through `columns` in `height` rows, uppermost first, for a range of 0 to `top`.

    The first column is the one before the window: it is not drawn, but the first drawn one is joined to it.
    There are `1 + n * COLUMNS_PER_CELL[glyphs]` columns; each row has n characters. Values outside the range
    are drawn at its edge.

    `filled`: a second curve over the same columns, told from the first by its form: the area below it is
    filled. As blocks, where the first has an area itself, what is above the second is a lighter shade.
    """
    if glyphs == "block":
        return _block_rows(columns[1:], height, top, None if filled is None else filled[1:])
    rows = height * (4 if glyphs == "braille" else 2)
    levels = [() if level is None else range(level[0], level[1] + 1) for level in _joined(columns, rows, top)]
    areas: list[Sequence[int]] = [()] * len(levels)
    if filled is not None:
        areas = [_area(column, rows, top) for column in filled]
    dots = list(zip(levels[1:], areas[1:], strict=True))
    return _braille_rows(dots, height) if glyphs == "braille" else _ascii_rows(dots, height)


def _area(column: Column, levels: int, top: float) -> Sequence[int]:
    """The levels from the bottom up to the middle of a column: one at least where it is above 0."""
    middle = 0.0 if column is None else (column[0] + column[1]) / 2
    if middle <= 0 or top <= 0:
        return ()
    return range(max(1, round(min(1.0, middle / top) * levels)))


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


def _braille_rows(dots: Sequence[_Dots], height: int) -> list[str]:
    width = len(dots) // 2
    bits = [bytearray(width) for _ in range(height)]
    for x, levels in enumerate(dots):
        column_bits, cell = _BRAILLE_BITS[x & 1], x >> 1
        for line_or_area in levels:
            for dot in line_or_area:
                bits[height - 1 - (dot >> 2)][cell] |= column_bits[dot & 3]
    return ["".join([_BRAILLE[byte] for byte in row]) for row in bits]


def _ascii_rows(dots: Sequence[_Dots], height: int) -> list[str]:
    halves = [bytearray(len(dots)) for _ in range(height)]
    for x, levels in enumerate(dots):
        for line_or_area in levels:
            for half in line_or_area:
                halves[height - 1 - (half >> 1)][x] |= 1 << (half & 1)
    return ["".join([_ASCII[byte] for byte in row]) for row in halves]


def _block_rows(
    columns: Sequence[Column], height: int, top: float, filled: Sequence[Column] | None
) -> list[str]:
    """Bars from the bottom up to each column's highest value; what is measured shows at least one eighth."""
    eighths = [None if column is None else 1 + _level(column[1], height * 8, top) for column in columns]
    solid = eighths
    if filled is not None:
        solid = [len(_area(column, height * 8, top)) or None for column in filled]
    rows = []
    for below in range(height - 1, -1, -1):
        row = []
        for bar, inner in zip(eighths, solid, strict=True):
            block = _BLOCKS[min(8, max(0, (inner or 0) - 8 * below))]
            row.append(_SHADE if block == " " and (bar or 0) - 8 * below > 4 else block)
        rows.append("".join(row))
    return rows
