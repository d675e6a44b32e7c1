"""A sweep's points as a table for a data frame."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from gputrain_runner.sweep.result import SweepFile

from ..sweep_text import csv_rows


def write_points(told: Sequence[tuple[str, SweepFile]], file: TextIO) -> int:
    """Write the points of sweeps, each with the path of its file, a row each; how many there were.

    The columns are those of `sweep --csv`, the file's name before them; what is not known is an empty cell.
    """
    columns: dict[str, None] = {}
    rows: list[dict[str, object]] = []
    for path, sweep in told:
        head, *points = csv_rows(sweep)
        columns |= dict.fromkeys(str(name) for name in head)
        for point in points:
            rows.append(
                {"sweep": Path(path).name} | dict(zip(map(str, head), map(_cell, point), strict=True))
            )
    table = csv.DictWriter(file, ["sweep", *columns], restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return len(rows)


def _cell(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
