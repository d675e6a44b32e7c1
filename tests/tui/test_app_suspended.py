"""ctrl+z in the real program, under a real shell that stops and continues it."""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil
import pytest

from fake_worker import until
from terminal import PROGRAM, Terminal

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash, for its job control"),
]

TRAIN = f"{PROGRAM} --preset keras-mnist-mlp --model-size 100 --device cpu"
MORE_THAN_LOADING_S = 8.0
"""CPU time that a worker uses sooner or later where it trains; loading PyTorch alone takes a third of it, and
then a worker waits to be told what to train."""


def cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def test_loading_goes_on_while_the_app_is_suspended(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path), "PS1": "prompt> "}
    with Terminal(["bash", "--norc", "-i"], environment=environment) as terminal:
        terminal.wait_for("prompt>")
        terminal.send(TRAIN + "\r")
        terminal.wait_for("being loaded", timeout_s=60)
        terminal.send("\x1a")
        (app,) = psutil.Process(terminal.pid).children()
        until(lambda: app.status() == psutil.STATUS_STOPPED, timeout_s=60)
        (worker,) = app.children()
        until(lambda: cpu_s(worker) > MORE_THAN_LOADING_S, timeout_s=60)
        assert app.status() == psutil.STATUS_STOPPED
        terminal.send("fg\r")
        terminal.wait_for("step +[1-9]", timeout_s=60)
        terminal.send("\x11")
        until(lambda: not app.is_running(), timeout_s=20)
