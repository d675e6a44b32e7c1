"""A recording's samples as a table for a data frame: one row each, flat columns with units in their names."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgspec

from ..recordings import RecordingFile

FIRST = ("recording", "t_s", "step", "epoch", "steady")
"""The columns that come first; the others follow as they lie in a sample."""


def write_samples(paths: Sequence[Path], file: TextIO) -> int:
    """Write the samples of recordings, one after another; how many there were.

    A column is a sample's field by its path, `phases.forward.host_ms`; those of GPUs have the driver's
    number in it, `gpus.0.utilisation`. What is not known is an empty cell. Fields that this version does
    not know are columns too.

    Raises:
        UnreadableError: a file is no recording.
    """
    recordings = [RecordingFile(path) for path in paths]
    try:
        columns = _columns(recordings)
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        count = 0
        for recording in recordings:
            for row in _rows(recording):
                table.writerow([_cell(row.get(column)) for column in columns])
                count += 1
        return count
    finally:
        for recording in recordings:
            recording.close()


def _columns(recordings: Sequence[RecordingFile]) -> list[str]:
    """All columns that occur, in the samples' own order; two GPUs' stand one after the other."""
    found: dict[str, None] = {}
    for recording in recordings:
        for row in _rows(recording):
            if row.keys() - found.keys():
                found |= dict.fromkeys(row)
    # A part that was null in some samples (`memory`) is no column beside its fields.
    parts = {column[:at] for column in found for at in range(len(column)) if column[at] == "."}
    groups = {column.split(".")[0]: at for at, column in reversed(list(enumerate(found)))}
    rest = [column for column in found if column not in FIRST and column not in parts]
    return [*FIRST, *sorted(rest, key=lambda column: groups[column.split(".")[0]])]


def _rows(recording: RecordingFile) -> Iterator[dict[str, Any]]:
    for number in range(len(recording)):
        if recording.kind(number) != "sample":
            continue
        raw = recording.raw(number)
        row: dict[str, Any] = {"recording": recording.path.name, "t_s": raw.get("t")}
        _flatten(row, "", {name: value for name, value in raw.items() if name not in ("kind", "t")})
        yield row


def _flatten(row: dict[str, Any], prefix: str, fields: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        if isinstance(value, dict):
            _flatten(row, f"{prefix}{name}.", value)
        elif not prefix and name == "gpus" and isinstance(value, list):
            for gpu in value:
                _flatten(row, f"gpus.{_gpu_number(gpu)}.", gpu)
        else:
            row[f"{prefix}{name}"] = value


def _gpu_number(gpu: Mapping[str, Any]) -> str:
    mig = gpu.get("mig")
    return str(gpu.get("index", 0)) if mig is None else f"{gpu.get('index', 0)}.mig{mig}"


def _cell(value: Any) -> Any:
    """As a data frame reads it: nothing for what is not known, JSON for what has parts."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        simple = all(isinstance(part, str) for part in value)
        return ";".join(value) if simple else msgspec.json.encode(value).decode()
    return value
