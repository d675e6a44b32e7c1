"""A recording's file: its header at once, its entries when they are asked for, also while it grows."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ..ceilings import Probe
from ..documents import SESSION, what_it_is
from ..timeline import Device, Entry, Header, Host, SessionInfo, Summary
from .index import KINDS, Index, opening

FRESH_S = 5.0
"""What was last written to longer ago is written to no more."""
_LINE_LIMIT = 1 << 24
_HEAD_BYTES = 1 << 20
_entry: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)


class UnreadableError(ValueError):
    """A file that is no recording, or cannot be read; the text is one line that names it."""


class _Head(msgspec.Struct, frozen=True):
    session: SessionInfo
    host: Host
    devices: list[Device] = []
    probe: Probe | None = None


class _Tail(msgspec.Struct, frozen=True):
    probe: Probe | None = None
    summary: Summary | None = None


class RecordingFile:
    """A recording, whole or still being written. Not safe for threads.

    Entries are numbered as in the file. What a later version has added to an entry is left out of `entry`
    and is in `raw`; an entry of a kind that this version does not know is in `raw` alone.

    Attributes:
        path: the file.
        header: what is known of the session.
        summary: how it ended; None while it goes on, and where it was cut off.
        damage: what is wrong with the file's end, in one line; None where nothing is.
    """

    def __init__(self, path: Path) -> None:
        """Open it and find its entries.

        Raises:
            UnreadableError: it is not there, or no recording.
        """
        self.path = path
        self._file = _open(path)
        try:
            self._read_all()
        except BaseException:
            self._file.close()
            raise

    header: Header
    summary: Summary | None
    damage: str | None

    def __len__(self) -> int:
        return len(self._index) if self._whole is None else len(self._whole)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def kind(self, number: int) -> str:
        """The kind of an entry; "other" where this version does not know it."""
        if self._whole is None:
            return KINDS[self._index.kinds[number]]
        kind = self._whole[number].get("kind")
        return kind if kind in KINDS else "other"

    def time(self, number: int) -> float:
        """When an entry was, in seconds since the session began."""
        if self._whole is None:
            return self._index.times[number]
        t = self._whole[number].get("t")
        return float(t) if isinstance(t, (int, float)) else 0.0

    def entry(self, number: int) -> Entry | None:
        """An entry; None where this version does not know its kind.

        Raises:
            UnreadableError: it has been damaged.
        """
        if self.kind(number) == "other":
            return None
        try:
            if self._whole is not None:
                return msgspec.convert(self._whole[number], Entry)  # type: ignore[no-any-return]
            return _entry.decode(self._bytes(number))
        except msgspec.DecodeError as error:
            raise UnreadableError(f"{self.path}: entry {number} is damaged: {error}") from None

    def raw(self, number: int) -> dict[str, Any]:
        """An entry as it lies in the file, with all that this version does not know."""
        if self._whole is not None:
            return self._whole[number]
        try:
            decoded: dict[str, Any] = msgspec.json.decode(self._bytes(number))
        except msgspec.DecodeError as error:
            raise UnreadableError(f"{self.path}: entry {number} is damaged: {error}") from None
        return decoded

    def entries(self) -> Iterator[Entry]:
        """All entries that this version knows, one after another."""
        for number in range(len(self)):
            entry = self.entry(number)
            if entry is not None:
                yield entry

    def refresh(self) -> bool:
        """Look whether the file has grown or been completed since; whether it has.

        Raises:
            UnreadableError: it is gone, or no recording any more.
        """
        size = os.fstat(self._file.fileno()).st_size
        if self.summary is not None or (size == self._size and self._tail_bytes() == self._tail):
            return False
        before = len(self)
        if self._whole is not None or self._start != self._read(0, len(self._start)):
            self._read_all()  # The header has grown, and all entries have moved.
        else:
            self._read_entries()
        return len(self) > before or self.summary is not None

    def _read_all(self) -> None:
        self._index = Index()
        self._whole: list[dict[str, Any]] | None = None
        self._size = 0
        head = self._read(0, _HEAD_BYTES)
        begin = opening(head)
        if begin is None and len(head) == _HEAD_BYTES:
            head = self._read(0, os.fstat(self._file.fileno()).st_size)
            begin = opening(head)
        if begin is None:
            raise UnreadableError(_what_it_is(self.path, head))
        self._start = head[:begin]
        self._next = begin
        self.header = self._decode_head(head[:begin])
        self._read_entries()

    def _read_entries(self) -> None:
        """Index the lines behind those known, and read what follows the last."""
        self.damage = None
        self._size = os.fstat(self._file.fileno()).st_size
        self._file.seek(self._next)
        offset = self._next
        rest = b""
        for line in self._file:
            if line.isspace():
                offset += len(line)
                continue
            if not line.endswith(b"\n") or not self._index.add(offset, line):
                rest = line + self._file.read()
                break
            offset += len(line)
        # The last entry is read again next time: whether a comma follows it is not known yet.
        self._next = offset
        self._take_rest(rest)
        self._tail = self._tail_bytes()

    def _take_rest(self, rest: bytes) -> None:
        """What stands behind the entries: the closing bracket, the probe, the summary."""
        self.summary = None
        stripped = rest.lstrip()
        if not stripped.startswith(b"]"):
            if len(self._index) == 0 or stripped.startswith(b"{"):
                self._parse_whole(stripped)
            else:
                self.damage = f"{self.path} is cut off; what was written before is read"
            return
        tail = stripped[1:].lstrip()
        try:
            told = msgspec.json.decode(
                b"{" + tail[1:] if tail.startswith(b",") else tail and b"{}", type=_Tail
            )
        except msgspec.DecodeError:
            self.damage = f"{self.path}: its end is damaged; the entries before it are read"
            return
        self.summary = told.summary
        if told.probe is not None:
            self.header = msgspec.structs.replace(self.header, probe=told.probe)

    def _parse_whole(self, rest: bytes) -> None:
        """Entries that are not one a line: another program has written the file anew, or cut it off."""
        try:
            document = msgspec.json.decode(self._read(0, self._size))
            timeline = document["timeline"]
            if not all(isinstance(entry, dict) for entry in timeline):
                raise UnreadableError(f"{self.path}: its timeline holds something that is no entry")
            self._whole = list(timeline)
            tail = msgspec.convert(document, _Tail)
        except (msgspec.DecodeError, KeyError, TypeError):
            self.damage = f"{self.path} is cut off; what was written before is read"
            return
        self.summary = tail.summary
        if tail.probe is not None:
            self.header = msgspec.structs.replace(self.header, probe=tail.probe)

    def _decode_head(self, head: bytes) -> Header:
        document = head + b"]}"
        try:
            plain = msgspec.json.decode(document)
        except msgspec.DecodeError:
            raise UnreadableError(f"{self.path} is no recording: it is not JSON") from None
        _check_schema(self.path, plain)
        try:
            known = msgspec.convert(plain, _Head)
        except msgspec.ValidationError as error:
            raise UnreadableError(f"{self.path}: its header is damaged: {error}") from None
        return Header(session=known.session, host=known.host, devices=known.devices, probe=known.probe)

    def _bytes(self, number: int) -> bytes:
        return self._read(self._index.offsets[number], self._index.lengths[number])

    def _read(self, offset: int, length: int) -> bytes:
        self._file.seek(offset)
        return self._file.read(length)

    def _tail_bytes(self) -> bytes:
        return self._read(max(0, self._size - 64), 64)


def is_fresh(path: Path) -> bool:
    """Whether somebody wrote to the file a moment ago: a session writes at least once a second."""
    return time.time() - path.stat().st_mtime < FRESH_S


def _open(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise UnreadableError(f"{path} is a folder, not a recording")
        return path.open("rb")
    except FileNotFoundError:
        raise UnreadableError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None


def _check_schema(path: Path, document: Any) -> None:
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SESSION:
        raise UnreadableError(f"{path} is no recording of a session: {what_it_is(schema)}")
    version = document.get("version")
    if version != 1:
        raise UnreadableError(f"{path} is a recording of version {version}: this program reads version 1")


def _what_it_is(path: Path, head: bytes) -> str:
    """Why a file without a timeline is none of ours."""
    if not head.strip():
        return f"{path} is empty"
    try:
        document = msgspec.json.decode(head)
    except (msgspec.DecodeError, UnicodeDecodeError):
        if head.lstrip().startswith(b'{\n "schema": "gputrain-session"'):
            return f"{path} is cut off before its timeline"
        return f"{path} is no recording: it is not JSON"
    try:
        _check_schema(path, document)
    except UnreadableError as error:
        return str(error)
    return f"{path} is no recording: it has no timeline"
