"""The worker's end of the protocol: commands come in by a thread, reports go out without waiting."""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque

import msgspec

from ..protocol import Command, Progress, Report, decode_command, encode
from . import lifeline

MAX_WAITING_SAMPLES = 16
"""Samples held for a parent that does not read; beyond it the oldest goes."""


class Link:
    """Commands from and reports to the session.

    The process ends at once when the control pipe does: the parent is gone then, however it went.
    """

    def __init__(self, control_fd: int, report_fd: int) -> None:
        self.commands: deque[Command] = deque()
        """Commands not taken yet; looked at between two steps."""
        self._control_fd = control_fd
        self._report_fd = report_fd
        self._arrived = threading.Event()
        self._waiting: deque[tuple[bytes, bool]] = deque()
        self._waiting_samples = 0
        self._unsent = b""
        os.set_blocking(report_fd, False)

    def start(self) -> None:
        """Begin to read commands."""
        threading.Thread(target=self._read_commands, name="commands", daemon=True).start()

    def next_command(self, timeout_s: float | None = None) -> Command | None:
        """The next command, waiting for one as long as allowed; None when none came."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not self.commands:
            self._arrived.clear()
            if self.commands:
                break
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            self.flush()
            # While reports wait for a slow reader, look after them again soon.
            self._arrived.wait(0.05 if self._unsent or self._waiting else left)
        return self.commands.popleft()

    def send(self, report: Report) -> None:
        """Hand a report over. A sample may be dropped for a newer one; nothing else ever is."""
        droppable = isinstance(report, Progress)
        self._waiting.append((encode(report), droppable))
        if droppable:
            self._waiting_samples += 1
            if self._waiting_samples > MAX_WAITING_SAMPLES:
                self._drop_oldest_sample()
        self.flush()

    def flush(self) -> None:
        """Write what the pipe takes now."""
        while self._unsent or self._waiting:
            if not self._unsent:
                self._unsent, droppable = self._waiting.popleft()
                self._waiting_samples -= droppable
            try:
                written = os.write(self._report_fd, self._unsent)
            except BlockingIOError:
                return
            except BrokenPipeError:
                lifeline.end_now()
            self._unsent = self._unsent[written:]

    def drain(self, timeout_s: float) -> None:
        """Write everything, waiting for the reader up to `timeout_s`: the last thing a worker does."""
        deadline = time.monotonic() + timeout_s
        self.flush()
        while (self._unsent or self._waiting) and time.monotonic() < deadline:
            select.select([], [self._report_fd], [], 0.05)
            self.flush()

    def _drop_oldest_sample(self) -> None:
        for index, (_, droppable) in enumerate(self._waiting):
            if droppable:
                del self._waiting[index]
                self._waiting_samples -= 1
                return

    def _read_commands(self) -> None:
        buffer = b""
        while chunk := os.read(self._control_fd, 65536):
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                try:
                    self.commands.append(decode_command(line))
                except msgspec.DecodeError as error:
                    print(f"unreadable command: {error}", flush=True)
            self._arrived.set()
        lifeline.end_now()
