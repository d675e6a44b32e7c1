"""A GPU's memory in one bar: what takes how much of it, with the figures below."""

from __future__ import annotations

from collections.abc import Sequence

from .. import format as text_format
from ..gpu_text import MemoryPart
from .glyphs import glyphs
from .lines import Line, Lines, Role, Run
from .proportions import ideal_bounds, steady_bounds
from .text import padded

_SHADES = "█▓▒░▚▪"
_ASCII_SHADES = "#%=+~-"
"""One for each part but the free one, told apart by form and not by colour."""
_FREE = "·"
_ASCII_FREE = "."
_FIGURE_CELLS = 8
_GAP_CELLS = 2


class MemoryBar(Lines):
    """A row with the bar, and the figures in one or two more."""

    DEFAULT_CSS = """
    MemoryBar { height: 3; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._parts: Sequence[MemoryPart] = ()
        self._bounds: dict[int, list[int]] = {}

    def show_parts(self, parts: Sequence[MemoryPart]) -> None:
        """Show these, the last of which is what is free."""
        self._parts = parts
        self.rebuild()

    def build(self, width: int, height: int) -> Sequence[Line]:
        """Bar, then figures."""
        return [self._bar(width), *self._figures(width, height - 1)] if self._parts else []

    def _bar(self, width: int) -> Line:
        sizes = [(mark, part.size_bytes) for mark, part in self._marked() if part.size_bytes]
        if not sizes:
            return [(text_format.UNKNOWN, "dim")]
        # What is there at all gets a cell, so that little on a large GPU can be seen.
        ideal = ideal_bounds([float(size) for _, size in sizes], width, least=1)
        bounds = steady_bounds(ideal, self._bounds.get(len(sizes)), width)
        self._bounds = {len(sizes): bounds}
        return [
            (mark * (end - start), "dim" if mark in (_FREE, _ASCII_FREE) else "accent")
            for (mark, _), start, end in zip(sizes, [0, *bounds], bounds, strict=False)
        ]

    def _figures(self, width: int, height: int) -> list[Line]:
        """All parts in columns, with short names where the full ones need too many rows."""
        marked = self._marked()
        for names in ([part.name for part in self._parts], [part.short for part in self._parts]):
            longest = max(map(len, names))
            cells = 2 + longest + 1 + _FIGURE_CELLS + _GAP_CELLS
            columns = max(1, (width + _GAP_CELLS) // cells)
            rows = -(-len(marked) // columns)
            if rows <= height:
                break
        # As many in each row, so that the last one is not alone.
        columns = -(-len(marked) // rows)
        items = [
            _item(mark, padded(name, longest), part, width // columns)
            for (mark, part), name in zip(marked, names, strict=True)
        ]
        lines: list[Line] = [
            [run for item in items[first : first + columns] for run in item]
            for first in range(0, len(items), columns)
        ]
        return lines[:height]

    def _marked(self) -> list[tuple[str, MemoryPart]]:
        shades, free = (_ASCII_SHADES, _ASCII_FREE) if glyphs() == "ascii" else (_SHADES, _FREE)
        return list(zip([*shades[: len(self._parts) - 1], free], self._parts, strict=True))


def _item(mark: str, name: str, part: MemoryPart, cells: int) -> list[Run]:
    figure = text_format.memory(part.size_bytes)
    role: Role = "dim" if figure == text_format.UNKNOWN else ""
    gap = " " * max(0, cells - 2 - len(name) - 1 - _FIGURE_CELLS)
    return [(f"{mark} {name} ", "dim"), (padded(figure, _FIGURE_CELLS, right=True), role), gap]
