"""A bar as long as a step: the part in which the device worked is filled, the rest says why it did not."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from .. import format as text_format
from .glyphs import fit
from .lines import Line, Run
from .text import padded

UNTIL_PROFILED = "n/a until profiled"


def device_bar(label: str, shares: Sequence[tuple[str, float]] | None, width: int, label_width: int) -> Line:
    """The line; what each part is stands in it, or all of it in the larger one where the other is too small.

    Args:
        label: what stands before the bar.
        shares: names and shares of the step that add up to one, the first being work; None: not known.
        width: cells of the whole line.
        label_width: cells of the label.
    """
    before: Run = (padded(label, label_width), "dim")
    if not shares:
        return [before, (UNTIL_PROFILED, "dim")]
    room = max(2, width - label_width - 1)
    filled = _filled_cells(shares[0][1], room)
    rest = room - filled
    work, *not_work = (f"{name} {text_format.percent(share)}" for name, share in shares)
    others, everything = "  ".join(not_work), "  ".join([work, *not_work])
    if not _fits(others, rest):
        others = max(zip(shares[1:], not_work, strict=True), key=lambda part: part[0][1])[1]
    if _fits(work, filled) and _fits(others, rest):
        inside, outside = work, others
    elif _fits(everything, rest):
        inside, outside = "", everything
    elif _fits(everything, filled):
        inside, outside = everything, ""
    else:
        inside, outside = (work if _fits(work, filled) else ""), (others if _fits(others, rest) else "")
    bar = "▏" if filled else ""
    gap = "▏" if rest else ""
    return [
        before,
        (fit(bar) + padded(inside, max(0, filled - 1)), "segment-alt"),
        (fit(gap) + padded(outside, max(0, rest - 1)) + fit("▏"), "dim"),
    ]


def _filled_cells(share: float, room: int) -> int:
    """In proportion, but never nothing for something nor all for less than all."""
    cells = round(share * room)
    if share > 0:
        cells = max(1, cells)
    return min(cells, room - 1) if share < 1 else room


def _fits(text: str, cells: int) -> bool:
    return cell_len(fit(text)) < cells
