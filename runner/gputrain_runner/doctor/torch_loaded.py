"""Has a process of its own load PyTorch and tell what only it can: kernels, devices, what CUDA answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

import msgspec

from ..process import exit_in_words, worker_environment
from .facts import LoadedTorch
from .words import plain

PROGRAM = (sys.executable, "-P", "-m", "gputrain_runner.worker.torch_facts")
LONGEST_S = 60.0
"""A cold disk and many GPUs without persistence take a while; beyond this it hangs."""


def load_torch(program: Sequence[str] = PROGRAM, longest_s: float = LONGEST_S) -> LoadedTorch:
    """What the loaded PyTorch says; never raises: where it fails, `error` says how."""
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(
                program,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=worker_environment(os.environ),
                start_new_session=True,
            )
        except OSError as error:
            return LoadedTorch(error=f"{program[0]} cannot be started: {error.strerror}")
        try:
            answer, _ = process.communicate(timeout=longest_s)
        except subprocess.TimeoutExpired:
            # Not waited for: a process that hangs in a driver cannot even be killed.
            process.kill()
            return LoadedTorch(error=f"it did not load within {longest_s:.0f} s")
        except BaseException:
            process.send_signal(signal.SIGKILL)
            raise
        try:
            return msgspec.json.decode(answer, type=LoadedTorch)
        except msgspec.DecodeError:
            log.seek(0)
            return LoadedTorch(error=_why(process.returncode, log.read()))


def _why(code: int, log: bytes) -> str:
    lines = log.decode(errors="replace").strip().splitlines()
    last = plain(lines[-1]) if lines else ""
    ended = exit_in_words(code)
    return last or f"its process {ended or 'ended without an answer'}"
