"""The real program in a real pseudo-terminal, its screen read through a terminal emulator library."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import ptyprocess
import pyte

PROGRAM = str(Path(sys.executable).parent / "gputrain-tui")

_SYNC_QUERY = b"\x1b[?2026$p"


class Terminal:
    """A program on a pseudo-terminal of a given size; reads all it writes as it comes."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        environment: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        env = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **(environment or {})}
        # The size is the terminal's own; a test runner's would go before it.
        for name in ("COLORTERM", "COLUMNS", "LINES"):
            env.pop(name, None)
        self.screen = pyte.Screen(columns, rows)
        self.bytes_received = 0
        self.emulated = True
        """Whether `text` is kept: emulating a terminal takes time that a measurement may not want to take."""
        self.last_bytes = b""
        """The end of what came, as it came."""
        self.first_output_at: float | None = None
        self._stream = pyte.ByteStream(self.screen)
        self._lock = threading.Lock()
        self._news = threading.Condition(self._lock)
        self._ended = False
        self.started_at = time.monotonic()
        self.process = ptyprocess.PtyProcess.spawn(
            list(arguments), dimensions=(rows, columns), env=env, cwd=None if cwd is None else str(cwd)
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The program's process id."""
        return int(self.process.pid)

    @property
    def text(self) -> str:
        """What the screen shows, trailing blanks removed."""
        with self._lock:
            return "\n".join(line.rstrip() for line in self.screen.display)

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self.process.fd, keys.encode())

    def wait_for(self, wanted: str | Callable[[str], bool], timeout_s: float = 30.0) -> str:
        """Wait until the screen shows a regular expression, or fulfils a condition; the screen then."""
        fulfilled = wanted if callable(wanted) else (lambda text: re.search(wanted, text) is not None)
        deadline = time.monotonic() + timeout_s
        while True:
            text = self.text
            if fulfilled(text):
                return text
            with self._news:
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise AssertionError(f"the screen never showed {wanted!r}; it shows:\n{text}")
                self._news.wait(min(left, 0.25))

    def wait_end(self, timeout_s: float = 10.0) -> int:
        """Wait until the program has ended; its exit code (negative: the signal that ended it)."""
        deadline = time.monotonic() + timeout_s
        while self.process.isalive():
            if time.monotonic() > deadline:
                raise AssertionError(f"still running after {timeout_s} s; the screen shows:\n{self.text}")
            time.sleep(0.01)
        self._reader.join(2.0)
        status = self.process.exitstatus
        return int(status) if status is not None else -int(self.process.signalstatus)

    def close(self) -> None:
        """End the program if it still runs."""
        with contextlib.suppress(OSError, ptyprocess.PtyProcessError):
            self.process.close(force=True)

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self.process.fd, 65536)
            except OSError:
                chunk = b""
            with self._news:
                if not chunk:
                    self._ended = True
                    self._news.notify_all()
                    return
                if self.first_output_at is None:
                    self.first_output_at = time.monotonic()
                self.bytes_received += len(chunk)
                self.last_bytes = (self.last_bytes + chunk)[-4096:]
                if self.emulated:
                    self._stream.feed(chunk)
                self._news.notify_all()
            if _SYNC_QUERY in chunk:
                # Answer as a terminal that knows synchronised output.
                with contextlib.suppress(OSError):
                    os.write(self.process.fd, b"\x1b[?2026;2$y")
