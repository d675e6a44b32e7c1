"""From starting the program to its first complete frame, and from `q` to its end."""

from __future__ import annotations

import time
from typing import Any

from measuring import line, median, spread
from terminal import PROGRAM, Terminal

RUNS = 10


def measure() -> list[dict[str, Any]]:
    """Start-up to the picker's last line, and quitting."""
    starts, ends = [], []
    for _ in range(RUNS):
        with Terminal([PROGRAM], columns=160, rows=48) as terminal:
            terminal.wait_for("ctrl\\+q quit|\\^q")
            starts.append(time.monotonic() - terminal.started_at)
            time.sleep(0.5)
            pressed_at = time.monotonic()
            terminal.send("\x11")
            terminal.wait_end()
            ends.append(time.monotonic() - pressed_at)
    start, end = median(starts), median(ends)
    return [
        line("start to first complete frame", start, "s", "<= 0.8", start <= 0.8, spread(starts)),
        line("quit", end, "s", "<= 0.5", end <= 0.5, spread(ends)),
    ]


if __name__ == "__main__":
    measure()
