"""What the screen costs while training runs and plots are live: CPU, bytes to the terminal, memory."""

from __future__ import annotations

import time
from typing import Any

import psutil

from measuring import app, line

SECONDS = 20.0


def measure() -> list[dict[str, Any]]:
    """Cost at both sizes of the screen."""
    lines = []
    for columns, rows, most_bytes in ((160, 48, 16_000), (80, 24, 6_000)):
        with app("--preset", "lasagne-mlp", "--device", "cpu", columns=columns, rows=rows) as running:
            time.sleep(2.0)
            screen = psutil.Process(running.terminal.pid)
            cpu_before, bytes_before, began = (
                screen.cpu_times(),
                running.terminal.bytes_received,
                time.monotonic(),
            )
            time.sleep(SECONDS)
            seconds = time.monotonic() - began
            cpu = screen.cpu_times()
            used_s = cpu.user + cpu.system - cpu_before.user - cpu_before.system
            per_s = (running.terminal.bytes_received - bytes_before) / seconds
            memory = screen.memory_info().rss / 1e6
        size = f"{columns}x{rows}"
        share = used_s / seconds * 100
        lines += [
            line(f"CPU of the screen process, {size}", share, "% core", "<= 6", share <= 6),
            line(
                f"bytes to the terminal, {size}",
                per_s / 1e3,
                "kB/s",
                f"<= {most_bytes // 1000}",
                per_s <= most_bytes,
            ),
            line(f"memory of the screen process, {size}", memory, "MB", "<= 90", memory <= 90),
        ]
    return lines


if __name__ == "__main__":
    measure()
