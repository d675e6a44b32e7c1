"""Aligned tables and texts as wide as the terminal, for commands that print their result."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterable, Sequence


def columns() -> int | None:
    """Cells that the terminal on standard output is wide; None where it is none: lines stay whole there."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), gap: int = 2) -> list[str]:
    """The rows as lines; the columns in `left` are aligned left, all others right."""
    if not rows:
        return []
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        (" " * gap)
        .join(
            cell.ljust(width) if at in left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]


def stacked(rows: Sequence[Sequence[str]], *, left: Collection[int] = (), indent: int = 4) -> list[str]:
    """The same, each row's first cell on a line of its own and the others below it; `left` counts from it."""
    figures = table([row[1:] for row in rows], left=[at - 1 for at in left])
    lines: list[str] = []
    for row, line in zip(rows, figures, strict=True):
        lines += [row[0]] if row[0] else []
        lines += [" " * indent + line] if line else []
    return lines


def first_fitting(layouts: Iterable[Sequence[str]], width: int | None) -> list[str]:
    """The first layout of which no line is wider; the last one where none is that narrow."""
    lines: Sequence[str] = []
    for lines in layouts:
        if width is None or max(map(len, lines), default=0) <= width:
            break
    return list(lines)


def told(text: str, width: int | None, *, indent: int = 0) -> list[str]:
    """A text on as many lines as it takes, broken at spaces; all but the first begin `indent` cells in.

    A file's path that is wider than a line gives way in its middle.
    """
    if width is None or len(text) <= width:
        return [text]
    from ..widgets.text import wrapped

    first, *more = wrapped(text, width - indent)
    return [first, *(" " * indent + line for line in more)]
