"""Writes a session to its recording: one JSON document that is valid at every moment of the run."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import msgspec
from msgspec import structs

from .timeline import Change, Effect, Entry, Header, Message, Summary

_CLOSE = b"\n}\n"

_encoder = msgspec.json.Encoder()


class RecordingError(Exception):
    """A recording that cannot be written; the text is one line for the user."""


class RecordingExistsError(RecordingError):
    """There is a file of that name; recordings are never overwritten."""


class Recorder:
    """One recording being written.

    Every write replaces the closing brackets at the end of the file in a single system call, so that a
    process killed at any time leaves a document that any JSON reader takes. (One microsecond is out of
    reach: Linux takes a SIGKILL between the two pages of a write that crosses a page's end.) An entry is
    one line.

    The probe comes after the timeline: it may become known late, and what lies at the end can be
    replaced without moving anything.

    Numbers that JSON does not have (NaN, infinities) become null.
    """

    def __init__(self, path: Path, header: Header) -> None:
        """Create the file, readable by its owner alone, with an empty timeline.

        Raises:
            RecordingExistsError: there is such a file.
            RecordingError: it cannot be created.
        """
        check_path(path)
        self.path = path
        self._places: dict[int, int] = {}
        """Where a change lies in the file's timeline, by its position in the session's."""
        self._written = 0
        self._start = _encode_start(header)
        self._end = _encode_end(header)
        """What closes the document while the session goes on."""
        self._offset = len(self._start)
        """Where that begins."""
        self._fd: int | None = _create(path)
        try:
            self._replace(0, b"", self._start + self._end)
        except RecordingError:
            path.unlink(missing_ok=True)
            raise

    @property
    def writing(self) -> bool:
        """Whether the file still takes entries: neither complete nor given up after an error."""
        return self._fd is not None

    def update_header(self, header: Header) -> None:
        """Write the header anew; what was not known when the file was created is known now.

        Raises:
            RecordingError: it cannot be written; the file stays as it was, and nothing more is written.
        """
        self._update_end(_encode_end(header))
        start = _encode_start(header)
        if self._fd is None or start == self._start:
            return
        length = self._offset + len(self._end)
        previous = _read(self._fd, 0, length)
        # Filled up with white space, so that the document is whole before the file is made shorter.
        document = (start + previous[len(self._start) :]).ljust(length)
        self._replace(0, previous, document)
        self._offset += len(start) - len(self._start)
        self._start = start
        os.ftruncate(self._fd, self._offset + len(self._end))

    def write(self, position: int, entry: Entry) -> None:
        """Add the entry that has this position in the session's timeline.

        An effect names its change by position; the file names it by the change's index in the file,
        which differs where the older samples were let go before the recording began.

        Raises:
            RecordingError: the disk is full, for example; the file stays valid, and nothing more is
                written.
        """
        if self._fd is None:
            return
        if isinstance(entry, Change):
            self._places[position] = self._written
        elif isinstance(entry, Effect):
            since = None if entry.since is None else self._places[entry.since]
            entry = structs.replace(entry, change=self._places[entry.change], since=since)
        elif isinstance(entry, Message) and entry.change is not None:
            entry = structs.replace(entry, change=self._places[entry.change])
        line = (b",\n  " if self._written else b"\n  ") + _encoder.encode(entry)
        self._replace(self._offset, self._end, line + self._end)
        self._offset += len(line)
        self._written += 1

    def complete(self, summary: Summary) -> None:
        """Close the document with the summary; nothing is written after it.

        Raises:
            RecordingError: the disk is full, for example; the file stays valid, without a summary.
        """
        if self._fd is None:
            return
        end = self._end.removesuffix(_CLOSE) + b',\n "summary": ' + _pretty(summary) + _CLOSE
        self._replace(self._offset, self._end, end)
        self._close()

    def _update_end(self, end: bytes) -> None:
        if self._fd is None or end == self._end:
            return
        self._replace(self._offset, self._end, end.ljust(len(self._end)))
        if self._fd is not None:
            os.ftruncate(self._fd, self._offset + len(end))
        self._end = end

    def _replace(self, offset: int, previous: bytes, data: bytes) -> None:
        """Write `data` over `previous`, which reaches from `offset` to the end of the file."""
        fd = self._fd
        if fd is None:
            return
        try:
            _write(fd, data, offset)
        except OSError as error:
            self._put_back(fd, offset, previous)
            self._close()
            reason = error.strerror or type(error).__name__
            raise RecordingError(
                f"{self.path}: {reason}: the recording ends here; what was written before is complete"
            ) from None

    def _put_back(self, fd: int, offset: int, previous: bytes) -> None:
        """Undo a write that was cut short. These bytes have their place on the disk already."""
        try:
            _write(fd, previous, offset)
            os.ftruncate(fd, offset + len(previous))
        except OSError:
            pass  # The disk itself is gone; there is nothing left to save the file with.

    def _close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def check_path(path: Path) -> None:
    """Whether a recording can be created there, as far as that can be told without creating it.

    Raises:
        RecordingExistsError: there is such a file.
        RecordingError: a folder has that name, its own folder is not there, or may not be written to.
    """
    try:
        _check_place(path, path.parent)
    except PermissionError:
        raise RecordingError(
            f"{path}: no permission to write in {path.parent}: choose another place"
        ) from None
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}: choose another place") from None


def _check_place(path: Path, folder: Path) -> None:
    if _mode(path, follow_symlinks=False) is not None:
        if path.is_dir():
            raise RecordingError(f"{path} is a folder: name a file in it, such as {path / 'session.json'}")
        raise RecordingExistsError(
            f"{path} exists already; recordings are never overwritten: choose another name or remove it"
        )
    mode = _mode(folder)
    if mode is None:
        raise RecordingError(f"{path}: there is no folder {folder}: create it or choose another place")
    if not stat.S_ISDIR(mode):
        raise RecordingError(f"{path}: {folder} is not a folder: choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError


def _mode(path: Path, follow_symlinks: bool = True) -> int | None:
    try:
        return path.stat(follow_symlinks=follow_symlinks).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def _create(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        check_path(path)
        raise RecordingExistsError(f"{path} exists already; recordings are never overwritten") from None
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}: choose another place") from None


def _encode_start(header: Header) -> bytes:
    """Everything up to and including the bracket that opens the timeline."""
    return b"".join(
        [
            b'{\n "schema": "gputrain-session",\n "version": 1',
            b',\n "session": ' + _pretty(header.session),
            b',\n "host": ' + _pretty(header.host),
            b',\n "devices": ' + _pretty(header.devices),
            b',\n "timeline": [',
        ]
    )


def _encode_end(header: Header) -> bytes:
    """Everything from the bracket that closes the timeline on; short, as every entry writes it anew."""
    return b'\n ],\n "probe": ' + _encoder.encode(header.probe) + _CLOSE


def _pretty(value: object) -> bytes:
    """Indented JSON, one level in."""
    return msgspec.json.format(_encoder.encode(value), indent=1).replace(b"\n", b"\n ")


def _write(fd: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset`: one system call, more only where the system took less."""
    while data:
        if hasattr(os, "pwrite"):
            written = os.pwrite(fd, data, offset)
        else:  # Windows
            os.lseek(fd, offset, os.SEEK_SET)
            written = os.write(fd, data)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data, offset = data[written:], offset + written


def _read(fd: int, offset: int, length: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    data = b""
    while len(data) < length:
        chunk = os.read(fd, length - len(data))
        if not chunk:
            break
        data += chunk
    return data
