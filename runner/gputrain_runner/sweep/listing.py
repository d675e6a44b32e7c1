"""The sweeps in a folder, newest first, without their figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from ..documents import SWEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """One sweep's file."""

    path: Path
    problem: str | None = None
    """Why nothing else is known of it."""
    started_at: str = ""
    """UTC, ISO 8601."""
    presets: Sequence[str] = ()
    devices: Sequence[str] = ()
    measured: int = 0
    planned: int = 0
    complete: bool = False


class _Settings(Struct):
    device: str


class _Point(Struct):
    preset: str
    settings: _Settings


class _Head(Struct):
    """What is read of a file; the rest is passed over."""

    schema: str
    started_at: str
    planned: int
    complete: bool
    points: list[_Point]


def swept(folder: Path) -> list[Swept]:
    """The files in that folder, which need not exist; one that is no sweep has its problem told."""
    found = [_one(path) for path in folder.glob("*.json")]
    # A file is named by its time, which serves where nothing else is known of it.
    return sorted(found, key=lambda each: each.started_at or each.path.name, reverse=True)


def _one(path: Path) -> Swept:
    try:
        head = msgspec.json.decode(path.read_bytes(), type=_Head)
    except OSError as error:
        return Swept(path=path, problem=str(error.strerror))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Swept(path=path, problem="it is damaged, or no sweep")
    if head.schema != SWEEP:
        return Swept(path=path, problem="it is no sweep")
    return Swept(
        path=path,
        started_at=head.started_at,
        presets=list(dict.fromkeys(point.preset for point in head.points)),
        devices=list(dict.fromkeys(point.settings.device for point in head.points)),
        measured=len(head.points),
        planned=head.planned,
        complete=head.complete,
    )
