"""Rows of text as an aligned table, for commands that print their result."""

from __future__ import annotations

from collections.abc import Collection, Sequence


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
