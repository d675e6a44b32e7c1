"""The recordings of a folder as the lines of a list."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gputrain_runner.recordings.listing import Recorded

from . import device_names, format
from .commands.table import first_fitting, stacked, table, told

DAY = len("2026-11-30")
MINUTE = len("2026-11-30 17:07")
SECOND = len("2026-11-30 17:07:12")


def lasted(each: Recorded) -> str:
    """`00:02:13`; `being written` while it goes on, `no end` where its writer was killed."""
    if each.seconds is not None:
        return format.elapsed(each.seconds)
    return "being written" if each.being_written else "no end"


def listed(found: Sequence[Recorded], width: int | None) -> list[str]:
    """The list, in at most `width` cells where that is given: with less of what the files' names tell too."""
    good = [each for each in found if each.problem is None]
    problems = [
        line
        for each in found
        if each.problem is not None
        for line in told(f"{Path(each.path).name}: {each.problem}", width, indent=2)
    ]
    if not good:
        return problems
    heads = ("started (UTC)", "preset", "device", "for", "best samples/s", "file")
    brief_heads = (*heads[:4], "samples/s", "file")
    whole = [heads, *(_row(each, SECOND, each.device or "") for each in good)]
    brief = [brief_heads, *(_row(each, MINUTE, _device(each)) for each in good)]
    by_name = [(row[5], *row[2:5]) for row in brief]
    below = [(row[5], *row[:5]) for row in brief]
    layouts = [table(whole, left=(0, 1, 2, 5)), table(brief, left=(0, 1, 2, 5))]
    if all(_is_told_by_its_name(each) for each in good):
        layouts += [table(by_name, left=(0, 1), gap=gap) for gap in (2, 1)]
    layouts.append(stacked(below, left=(1, 2, 3)))
    return [*first_fitting(layouts, width), *problems]


def _row(each: Recorded, time_cells: int, device: str) -> tuple[str, ...]:
    return (
        (each.started_at or "")[:time_cells].replace("T", " "),
        each.preset or "",
        device,
        lasted(each),
        format.count(each.samples_per_s),
        Path(each.path).name,
    )


def _device(each: Recorded) -> str:
    return device_names.beside(each.torch_device, each.device)


def _is_told_by_its_name(each: Recorded) -> bool:
    """Whether the file's name holds the day and the preset, as it does by default."""
    name = Path(each.path).name
    return (each.started_at or "?")[:DAY] in name and (each.preset or "?") in name
