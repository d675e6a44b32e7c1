"""The recordings in a folder, newest first, told from their first and last kilobytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..documents import SESSION
from ..settings import Settings
from ..timeline import Effect, Summary
from .index import opening
from .reader import is_fresh

_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 1 << 16
_SUMMARY = re.compile(rb'\n "summary": ')
_WHOLE = re.compile(rb"\}\s*\Z")
"""How a document ends that was not cut off; the recorder closes it with every entry."""
_EFFECT = b'{"kind":"effect"'
_effect: msgspec.json.Decoder[Effect] = msgspec.json.Decoder(Effect)


class Recorded(Struct, frozen=True, kw_only=True):
    """What a list says of a recording; null where it is not known."""

    path: str
    preset: str | None
    device: str | None
    """The device's name, or as PyTorch calls it."""
    torch_device: str | None
    """As PyTorch calls it."""
    started_at: str | None
    seconds: float | None
    """Null while it goes on, and where it has no end."""
    samples_per_s: float | None
    """The best rate: of the last settings, or of either side of a change."""
    ended: str | None
    being_written: bool = False
    """It is whole so far and somebody wrote to it a moment ago; without that and without an end its writer
    was killed."""
    problem: str | None = None
    """Why it cannot be read."""


class _Session(Struct, frozen=True):
    started_at: str
    preset: dict[str, object]
    settings: Settings


class _Device(Struct, frozen=True):
    device: str
    name: str | None = None


class _Head(Struct, frozen=True):
    schema: str
    session: _Session
    devices: list[_Device] = []


def recorded(folder: Path) -> list[Recorded]:
    """The recordings in a folder, newest first; files that are none are told with their problem."""
    found = [about(path) for path in _files(folder)]
    return sorted(found, key=lambda each: (each.started_at or "", each.path), reverse=True)


def about(path: Path) -> Recorded:
    """What is known of one file without reading all of it; its effects alone are looked for throughout."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            begin = opening(head)
            if begin is None:
                return _unknown(path, "no recording")
            known = msgspec.json.decode(head[:begin] + b"]}", type=_Head)
            file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
            tail = file.read()
            summary = _summary(tail)
            file.seek(begin)
            rates = [rate for line in file if _EFFECT in line[:32] for rate in _rates(line)]
    except (OSError, msgspec.DecodeError) as error:
        return _unknown(path, getattr(error, "strerror", None) or "no recording")
    if known.schema != SESSION:
        return _unknown(path, "no recording of a session")
    if summary is not None and summary.samples_per_s is not None:
        rates.append(summary.samples_per_s)
    device = known.session.settings.device
    if device == "auto" and known.devices:
        device = known.devices[0].device
    name = next((each.name for each in known.devices if each.device == device), None)
    return Recorded(
        path=str(path),
        preset=str(known.session.preset.get("name")),
        device=name or device,
        torch_device=device,
        started_at=known.session.started_at,
        seconds=None if summary is None else summary.seconds,
        samples_per_s=max(rates, default=None),
        ended=None if summary is None else summary.ended,
        being_written=summary is None and _WHOLE.search(tail) is not None and is_fresh(path),
    )


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())
    except OSError:
        return


def _summary(tail: bytes) -> Summary | None:
    found = list(_SUMMARY.finditer(tail))
    if not found:
        return None
    try:
        return msgspec.json.decode(tail[found[-1].end() :].rstrip().removesuffix(b"}"), type=Summary)
    except msgspec.DecodeError:
        return None


def _rates(line: bytes) -> list[float]:
    try:
        effect = _effect.decode(line.strip().rstrip(b","))
    except msgspec.DecodeError:
        return []
    return [effect.before.samples_per_s, effect.after.samples_per_s]


def _unknown(path: Path, problem: str) -> Recorded:
    return Recorded(
        path=str(path),
        preset=None,
        device=None,
        torch_device=None,
        started_at=None,
        seconds=None,
        samples_per_s=None,
        ended=None,
        problem=problem,
    )
