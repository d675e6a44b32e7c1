"""Leaving the real program, whatever makes it leave: exit code, terminal, recording and worker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pyte
import pytest

from fake_worker import until
from terminal import PROGRAM, Terminal

pytestmark = pytest.mark.terminal

OWN_SCREEN_BACK = b"\x1b[?1049l"
"""With this a program gives the terminal's own screen back."""
OWN_SCREEN_AWAY = b"\x1b[?1049h"
CRASH = """
import sys
from gputrain_tui import app, launch
whole = app.GpuTrainApp.on_mount
def on_mount(self):
    whole(self)
    self.set_timer(0.3, lambda: 1 / 0)
app.GpuTrainApp.on_mount = on_mount
sys.exit(launch.run_app(launch.AppOptions()))
"""


class RawStream(pyte.ByteStream):
    """Keeps all that is fed to the emulator, and can stop reading."""

    raw = b""
    frozen = False

    def feed(self, data: bytes) -> None:  # type: ignore[override]
        if self.frozen:
            threading.Event().wait()
        self.raw += data
        super().feed(data)


class Recorded(Terminal):
    """A terminal that also keeps the bytes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # In place before the program has written anything: Python alone takes longer to start.
        self._stream = self.stream = RawStream(self.screen)

    @property
    def afterwards(self) -> str:
        """What was written once the terminal's own screen was back, line breaks taken out."""
        raw = self.stream.raw
        return raw[raw.rindex(OWN_SCREEN_BACK) :].decode().replace("\r\n", "")


Start = Callable[..., Recorded]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the program on a terminal; its recordings go into the test's folder."""
    started: list[Recorded] = []

    def start_with(*arguments: str, program: tuple[str, ...] = (PROGRAM,)) -> Recorded:
        environment = {"XDG_STATE_HOME": str(tmp_path)}
        started.append(Recorded([*program, *arguments], environment=environment))
        return started[-1]

    yield start_with
    for terminal in started:
        terminal.close()


def train(start: Start, tmp_path: Path) -> tuple[Recorded, Path, psutil.Process]:
    """The program, training and recording; its recording and its worker."""
    path = tmp_path / "recording.json"
    what = ("--preset", "keras-mnist-mlp", "--model-size", "100", "--device", "cpu")
    terminal = start(*what, "--record", str(path))
    terminal.wait_for("ONE STEP", timeout_s=60)
    (worker,) = psutil.Process(terminal.pid).children()
    return terminal, path, worker


def gone(process: psutil.Process, within_s: float = 5.0) -> bool:
    deadline = time.monotonic() + within_s
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def ended(path: Path) -> str:
    return str(json.loads(path.read_text())["summary"]["ended"])


@pytest.mark.parametrize(
    ("leave", "code", "how"),
    [
        pytest.param("q", 0, "finished", id="q"),
        pytest.param("\x03", 130, "interrupted", id="ctrl+c"),
        pytest.param(signal.SIGTERM, 143, "interrupted", id="SIGTERM"),
        pytest.param(signal.SIGHUP, 129, "interrupted", id="SIGHUP"),
        pytest.param(signal.SIGINT, 130, "interrupted", id="SIGINT"),
    ],
)
def test_leaving_completes_the_recording_and_restores_the_terminal(
    start: Start, tmp_path: Path, leave: str | signal.Signals, code: int, how: str
) -> None:
    terminal, path, worker = train(start, tmp_path)
    if isinstance(leave, str):
        terminal.send(leave)
    else:
        os.kill(terminal.pid, leave)
    assert terminal.wait_end() == code
    assert ended(path) == how
    assert gone(worker)
    assert f"recorded: {path}" in terminal.afterwards


def test_back_to_the_presets_ends_a_session_and_another_begins(start: Start, tmp_path: Path) -> None:
    terminal = start("--preset", "keras-mnist-mlp", "--model-size", "100", "--device", "cpu", "--record")
    terminal.wait_for("ONE STEP", timeout_s=60)
    (first,) = psutil.Process(terminal.pid).children()
    terminal.wait_for("step +[1-9]", timeout_s=60)
    terminal.send("\x1b")
    terminal.wait_for("esc again within 2 s")
    terminal.send("\x1b")
    terminal.wait_for("What trains slowly")
    assert gone(first)
    terminal.send("keras")
    terminal.wait_for("filter: keras")
    terminal.send("\r")
    terminal.wait_for("ONE STEP", timeout_s=60)
    terminal.send("q")
    assert terminal.wait_end() == 0
    recordings = sorted((tmp_path / "gputrain-tui" / "sessions").iterdir())
    assert len(recordings) == 2
    assert [ended(path) for path in recordings] == ["finished", "finished"]
    assert all(f"recorded: {path}" in terminal.afterwards for path in recordings)


def test_a_dropped_line_ends_it_all_and_the_recording_is_complete(start: Start, tmp_path: Path) -> None:
    terminal, path, worker = train(start, tmp_path)
    program = psutil.Process(terminal.pid)
    os.close(terminal.process.fd)
    assert gone(program)
    assert gone(worker)
    assert ended(path) == "interrupted"


def test_a_frozen_line_does_not_keep_it_from_ending(start: Start, tmp_path: Path) -> None:
    terminal, path, worker = train(start, tmp_path)
    terminal.stream.frozen = True
    # Keys whose answers fill the line's buffers, until the program hangs in a write.
    for _ in range(40):
        terminal.send("123")
        time.sleep(0.05)
    os.kill(terminal.pid, signal.SIGTERM)
    assert gone(psutil.Process(terminal.pid))
    assert gone(worker)
    assert ended(path) == "interrupted"


def test_an_error_in_the_app_is_one_line_and_exit_code_1(start: Start, tmp_path: Path) -> None:
    terminal = start(program=(sys.executable, "-P", "-c", CRASH))
    assert terminal.wait_end(30) == 1
    after = terminal.afterwards
    assert "an error in the app itself ended it: ZeroDivisionError: division by zero" in after
    assert "Traceback" not in after
    assert "ZeroDivisionError" in (tmp_path / "gputrain-tui" / "last-error.txt").read_text()


def test_it_does_not_start_where_there_is_no_terminal() -> None:
    done = subprocess.run(
        [PROGRAM], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "needs a terminal" in done.stderr


def test_it_does_not_start_on_a_terminal_that_cannot_be_drawn_on(start: Start) -> None:
    terminal = start(program=("/usr/bin/env", "TERM=dumb", PROGRAM))
    assert terminal.wait_end() == 2
    assert terminal.stream.raw.count(b"\n") == 1
    assert b"cannot draw on a terminal of type 'dumb'" in terminal.stream.raw


def test_being_stopped_from_outside_does_not_keep_it_from_ending() -> None:
    with Recorded([PROGRAM]) as terminal:
        terminal.wait_for("lasagne-mlp")
        stopped = psutil.Process(terminal.pid)
        entered = terminal.stream.raw.count(OWN_SCREEN_AWAY)
        stopped.suspend()
        stopped.resume()
        until(lambda: terminal.stream.raw.count(OWN_SCREEN_AWAY) > entered)
        terminal.send("\x11")
        assert terminal.wait_end() == 0
