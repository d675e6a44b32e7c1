"""The worker as a process: how it is started, spoken to, listened to and ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from .log import LogFile
from .protocol import Command, Hello, Report, Said, decode_report, encode

OnReport = Callable[[Report], None]
OnExit = Callable[[str | None], None]

WORKER = (sys.executable, "-P", "-m", "gputrain_runner.worker")

_EXIT_S = 5.0
"""How long a worker that has closed its report pipe may take to exit: a GPU's context takes a while."""
_LOOK_S = 0.5
"""How often a silent worker is looked after: where a child of its keeps the pipe open, only this tells."""
_REAP_S = 0.15
"""How long to wait for a killed process; one stuck in a driver is left to the reading thread."""
_SEND_S = 1.0
"""How long the second half of a command that is larger than the pipe may take."""
_WHY_KILLED = {
    "SIGKILL": "often the system's out-of-memory killer",
    **dict.fromkeys(("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"), "crashed in native code"),
}


class WorkerError(Exception):
    """A worker that cannot be started or takes no commands; the text is one line for the user."""


class WorkerProcess:
    """A worker from its start to its end, in a process group of its own.

    It ends with this process, however that ends: the control pipe closes then, and on Linux the worker
    asks to be killed with the *thread* that started it. So start it from the main thread alone.

    What it reports is kept until `attach` names who is to hear it. Everything may be called from any
    thread, and once more where a signal interrupted the call.
    """

    def __init__(self, argv: Sequence[str] = WORKER) -> None:
        """Start it; `argv` is what to run, the arguments that name the two pipes are appended.

        Raises:
            WorkerError: the system cannot start it.
        """
        self.hello: Hello | None = None
        """What the worker said once PyTorch was loaded."""
        self._log = LogFile()
        self._process, self._control_fd, self._report_fd = _spawn(argv, self._log.fileno())
        self._control_open = True
        self._lock = threading.RLock()
        self._untold: deque[Report | _Exit] = deque()
        self._listener: tuple[OnReport, OnExit] | None = None
        self._told_exit: _Exit | None = None
        self._telling = False
        self._undecodable = 0
        threading.Thread(target=self._listen, name="worker reports", daemon=True).start()

    @property
    def pid(self) -> int:
        """The worker's process id, which is its process group's too."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def log_tail(self, lines: int = 8) -> list[str]:
        """The last lines that came from the worker's standard output and error."""
        return self._log.tail(lines)

    def attach(self, on_report: OnReport, on_exit: OnExit) -> None:
        """Hear the worker from now on, beginning with everything it has reported so far.

        `on_report` gets each report in order; `on_exit`, once and last, how the process ended: None for
        exit code 0, else in words. Both are called from the reading thread, for what was kept also from
        the calling one, never from two at a time and never with a lock of this object held. Of a worker
        that others heard before, what they were told is not repeated, but for how it ended.
        """
        with self._lock:
            self._listener = (on_report, on_exit)
            if self._told_exit is not None:
                self._untold.append(self._told_exit)
        self._tell()

    def send(self, command: Command) -> None:
        """Hand a command over, at once. A worker that is gone is no error here: `on_exit` tells of it.

        Raises:
            WorkerError: it has left so many commands unread that the pipe is full.
        """
        line = encode(command)
        with self._lock:
            if self._control_open:
                with contextlib.suppress(BrokenPipeError):
                    self._write(line)

    def stop(self, grace_s: float = 0.2) -> None:
        """End it: close its control pipe, give it `grace_s` to exit, then kill its process group."""
        self._close_control()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        self._kill()

    def _write(self, line: bytes) -> None:
        rest = line
        while rest:
            try:
                rest = rest[os.write(self._control_fd, rest) :]
            except BlockingIOError:
                begun = len(rest) < len(line)
                if begun and select.select([], [self._control_fd], [], _SEND_S)[1]:
                    continue
                if begun:  # Half a command cannot be taken back, and nothing can follow it.
                    self._close_control()
                raise WorkerError("the worker takes no commands: it is busy or hangs") from None

    def _close_control(self) -> None:
        with self._lock:
            if self._control_open:
                self._control_open = False
                os.close(self._control_fd)

    def _kill(self) -> None:
        # The group also holds what the worker may have left behind.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_S)

    def _listen(self) -> None:
        """The reading thread: reports until the pipe or the process ends, then how it ended."""
        poll = select.poll()
        poll.register(self._report_fd, select.POLLIN)
        unfinished = b""
        while True:
            # Asked for before the pipe is: what was written before the end is read then.
            gone = not self.running
            if not poll.poll(0 if gone else _LOOK_S * 1e3):
                if gone:
                    break
                continue
            chunk = os.read(self._report_fd, 1 << 16)
            if not chunk:
                break
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            for line in lines:
                self._hear(line)
            self._log.keep_small()
        os.close(self._report_fd)
        self._untold.append(self._end())
        self._tell()

    def _hear(self, line: bytes) -> None:
        try:
            report = decode_report(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._undecodable += 1
            if self._undecodable > 1:
                return
            text = f"the worker said something that was not understood ({error}); it is left out"
            report = Said(at=time.monotonic(), level="warning", text=text)
        if isinstance(report, Hello):
            self.hello = report
        self._untold.append(report)
        self._tell()

    def _tell(self) -> None:
        """Hand over what is kept. One thread does at a time, also what arrives while it is at it."""
        while True:
            with self._lock:
                if self._telling or self._listener is None or not self._untold:
                    return
                self._telling = True
                on_report, on_exit = self._listener
                news = self._untold.popleft()
                if isinstance(news, _Exit):
                    self._told_exit = news
            try:
                if isinstance(news, _Exit):
                    on_exit(news.description)
                else:
                    on_report(news)
            finally:
                self._telling = False

    def _end(self) -> _Exit:
        try:
            code = self._process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:
            return _Exit("hung at its end and had to be killed")
        finally:
            self._kill()
        return _Exit(exit_in_words(code))


class _Exit(msgspec.Struct, frozen=True):
    """The last thing heard of a worker."""

    description: str | None


def exit_in_words(code: int) -> str | None:
    """How a process ended, by its exit code (negative: a signal's number); None for 0."""
    if code >= 0:
        return f"exited with code {code}" if code else None
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    why = f" ({_WHY_KILLED[name]})" if name in _WHY_KILLED else ""
    return f"{'killed' if name == 'SIGKILL' else 'ended'} by {name}{why}"


def worker_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without PYTHONPATH, which goes on as GPUTRAIN_USER_PATH.

    A user's own `types.py` on PYTHONPATH would end the worker's interpreter before our code runs; the
    worker itself appends these folders to the end of `sys.path`. Only where this very program was found
    through PYTHONPATH (`pip install --target`) does its folder stay there.
    """
    passed = dict(environment)
    user_path = passed.pop("PYTHONPATH", "")
    if user_path:
        passed["GPUTRAIN_USER_PATH"] = user_path
        ours = Path(__file__).resolve().parent.parent
        if any(Path(entry).resolve() == ours for entry in user_path.split(os.pathsep)):
            passed["PYTHONPATH"] = str(ours)
    return passed


def _spawn(argv: Sequence[str], log_fd: int) -> tuple[subprocess.Popen[bytes], int, int]:
    """The process, and our ends of the control and the report pipe; no other process has those."""
    if os.name != "posix":
        raise WorkerError("training needs Linux, macOS or WSL: this system has no pipes to hand down")
    control_theirs, control_ours = os.pipe()
    report_ours, report_theirs = os.pipe()
    try:
        process = subprocess.Popen(
            [*argv, "--control-fd", str(control_theirs), "--report-fd", str(report_theirs)],
            stdin=subprocess.DEVNULL,
            stdout=log_fd,
            stderr=subprocess.STDOUT,
            env=worker_environment(os.environ),
            pass_fds=(control_theirs, report_theirs),
            start_new_session=True,
        )
    except OSError as error:
        os.close(control_ours)
        os.close(report_ours)
        raise WorkerError(f"the worker cannot be started: {argv[0]}: {error.strerror}") from None
    finally:
        os.close(control_theirs)
        os.close(report_theirs)
    os.set_blocking(control_ours, False)
    return process, control_ours, report_ours
