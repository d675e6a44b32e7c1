"""The worker's log: what it, PyTorch, the driver or a user's model print, in a file without a name."""

from __future__ import annotations

import os
import re
import sys
import tempfile

LARGEST_BYTES = 8 * 1024 * 1024
_TAIL_BYTES = 64 * 1024

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|[^\t\x20-\U0010ffff]|\x7f")


class LogFile:
    """A file that the worker appends to; gone when this process is.

    Args:
        largest_bytes: a model that prints at every step would fill the disk in time; beyond this only the
            newest part is kept.
    """

    def __init__(self, largest_bytes: int = LARGEST_BYTES) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        _append_only(self._file.fileno())
        self._largest_bytes = largest_bytes

    def fileno(self) -> int:
        """The descriptor that the worker writes to."""
        return self._file.fileno()

    def tail(self, lines: int) -> list[str]:
        """The last lines that are not blank, fit to be shown: no escape sequences, tabs as spaces."""
        text = self._newest().decode("utf-8", "replace")
        shown = (_plain(line) for line in text.split("\n"))
        return [line for line in shown if line][-lines:]

    def keep_small(self) -> None:
        """Let go of all but the newest part where the file has grown too large."""
        if os.fstat(self.fileno()).st_size > self._largest_bytes:
            newest = self._newest()
            self._file.truncate(0)
            self._file.write(newest)

    def _newest(self) -> bytes:
        fd = self.fileno()
        # The position is shared with the worker, so it must not be moved.
        return os.pread(fd, _TAIL_BYTES, max(0, os.fstat(fd).st_size - _TAIL_BYTES))


def _append_only(fd: int) -> None:
    """Have every writer write at the end, wherever that is, also after the file was made shorter."""
    if sys.platform != "win32":
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)


def _plain(line: str) -> str:
    # Of a progress bar that returns to the line's beginning, the last state.
    last = line.rstrip("\r").rpartition("\r")[2]
    return _ESCAPES.sub("", last).expandtabs(4).rstrip()
