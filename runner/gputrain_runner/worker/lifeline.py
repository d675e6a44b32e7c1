"""How this process and those it forks end: with their parent, holding no pipe of it, leaving no files."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
from typing import NoReturn

_PR_SET_PDEATHSIG = 1

_left_behind: set[str] = set()


def die_with_parent(parent: int | None = None) -> None:
    """Ask Linux to kill this process with the thread that started it; elsewhere nothing is asked.

    Args:
        parent: its process id. Where that one is gone already, this process ends here and now.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def keep_from_children(*fds: int) -> None:
    """Close these in every process forked from now on: a pipe ends only when nobody holds it any more."""

    def close() -> None:
        for fd in fds:
            os.close(fd)

    os.register_at_fork(after_in_child=close)


def remove_at_end(folder: str) -> None:
    """Remove this folder in `end_now`, which passes by what Python does at its exit."""
    _left_behind.add(folder)


def end_now() -> NoReturn:
    """End the process at once, whatever its threads are at."""
    for folder in list(_left_behind):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)
