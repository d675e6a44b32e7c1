"""The bottom row of a chart: change markers with their labels, and the time where room is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from .. import format as text_format
from .glyphs import fit
from .text import Role, Run

_TIME_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
_TIME_EVERY_CELLS = 16


@dataclass(frozen=True, slots=True)
class Marker:
    """A change worth seeing in a chart: a mark at `t_s` with a label, `batch 256→512`.

    Where there is no room for it the label's first word is tried, then the mark stands alone.
    """

    t_s: float
    label: str


def axis_runs(first_cell: int, width: int, cell_s: float, markers: Sequence[Marker]) -> list[Run]:
    """The row for `width` cells of `cell_s` seconds from number `first_cell` on; always `width` cells."""
    line = [fit("─")] * width
    taken: list[Role] = ["dim"] * width
    _put_markers(line, taken, first_cell, cell_s, markers)
    _put_times(line, taken, first_cell, cell_s)
    runs: list[Run] = []
    start = 0
    for x in range(1, width + 1):
        if x == width or taken[x] != taken[start]:
            runs.append(("".join(line[start:x]), taken[start]))
            start = x
    return runs


def _put_markers(
    line: list[str], taken: list[Role], first_cell: int, cell_s: float, markers: Sequence[Marker]
) -> None:
    """All marks first, then each label to the right of its mark, or to its left at the end of the row."""
    width = len(line)
    mark = fit("▲")
    placed: dict[int, Marker] = {}
    for marker in markers:
        x = math.floor(marker.t_s / cell_s) - first_cell
        if 0 <= x < width:
            placed[x] = marker
            line[x], taken[x] = mark, "strong"
    for x, marker in placed.items():
        for label in _labels(marker.label):
            length = cell_len(label)
            for start in (x + 1, x - length):
                if _free(taken, start, length):
                    line[start : start + length] = list(label)
                    taken[start : start + length] = ["strong"] * length
                    break
            else:
                continue
            break


def _labels(label: str) -> list[str]:
    """What may stand beside a mark, longest first; wide characters do not fit a row of single cells."""
    label = fit(label)
    first_word = label.split(" ")[0]
    return [each for each in dict.fromkeys((label, first_word)) if each and cell_len(each) == len(each)]


def _free(taken: list[Role], start: int, length: int) -> bool:
    """Whether the cells are free, with one more on each side between them and a neighbour's label."""
    if start < 0 or start + length > len(taken):
        return False
    around = taken[max(0, start - 1) : start] + taken[start + length : start + length + 1]
    occupied = sum(role != "dim" for role in taken[start : start + length])
    # One neighbour is the label's own mark.
    return occupied == 0 and sum(role != "dim" for role in around) <= 1


def _put_times(line: list[str], taken: list[Role], first_cell: int, cell_s: float) -> None:
    """`┴01:30` at round times since the session began, wherever nothing else stands."""
    width = len(line)
    dash, tick = fit("─"), fit("┴")
    step_s = next((step for step in _TIME_STEPS_S if step >= _TIME_EVERY_CELLS * cell_s), _TIME_STEPS_S[-1])
    number = math.ceil(first_cell * cell_s / step_s)
    while (x := math.floor(number * step_s / cell_s + 1e-9) - first_cell) < width:
        label = tick + text_format.clock(number * step_s)
        end = x + len(label)
        free = end < width and all(role == "dim" for role in taken[max(0, x - 1) : end + 1])
        if x >= 0 and free and line[x:end] == [dash] * len(label):
            line[x:end] = list(label)
        number += 1
