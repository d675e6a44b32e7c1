"""Training speed under the app, all panels live, against a bare PyTorch loop doing the same work.

Both are alive, one of them stopped, in turn every few seconds: a machine's speed drifts more than what is to
be measured. Each turn's rate is the median of its quarters of a second, the ratio is taken turn by turn.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from measuring import Running, app, line, median, spread

TURN_S = 3.0
SKIPPED_S = 0.8
"""The beginning of a turn: caches are cold, and a window may reach back over the stop."""


class Bare:
    """The bare loop as a process, and the rates it prints."""

    def __init__(self, batch_size: int) -> None:
        script = Path(__file__).with_name("bare_loop.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script), "lasagne-mlp", str(batch_size)], stdout=subprocess.PIPE, text=True
        )
        self.rates: list[tuple[float, float]] = []
        threading.Thread(target=self._read, daemon=True).start()
        while len(self.rates) < 4:
            time.sleep(0.1)

    def since(self, began: float) -> list[float]:
        """Samples/s of the windows that ended since then."""
        return [rate for at, rate in self.rates if at > began]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            at, rate = text.split()
            self.rates.append((float(at), float(rate)))


def app_rates(running: Running, after: int) -> list[float]:
    """Samples/s of the steady samples from that entry of the timeline on."""
    return [
        entry["samples_per_s"]
        for entry in running.timeline()[after:]
        if entry["kind"] == "sample" and entry["steady"] and entry["samples_per_s"]
    ]


@contextmanager
def going(processes: list[psutil.Process]) -> Iterator[None]:
    """Let stopped processes run for a turn."""
    for process in processes:
        process.send_signal(signal.SIGCONT)
    time.sleep(SKIPPED_S)
    yield
    for process in processes:
        process.send_signal(signal.SIGSTOP)


def compare(batch_size: int, turns: int) -> dict[str, Any]:
    """The ratio at one batch size."""
    arguments = ["--preset", "lasagne-mlp", "--device", "cpu", "--batch-size", str(batch_size)]
    ratios, rates = [], []
    with app(*arguments) as running:
        screen = psutil.Process(running.terminal.pid)
        of_app = [screen, *screen.children(recursive=True)]
        for process in of_app:
            process.send_signal(signal.SIGSTOP)
        bare = Bare(batch_size)
        os.kill(bare.process.pid, signal.SIGSTOP)
        for _ in range(turns):
            with going(of_app):
                known = len(running.timeline())
                time.sleep(TURN_S)
                under_app = median(app_rates(running, known))
            with going([psutil.Process(bare.process.pid)]):
                began = time.monotonic()
                time.sleep(TURN_S)
                alone = median(bare.since(began + 0.3))
            ratios.append(under_app / alone)
            rates.append(under_app)
        bare.process.kill()
        for process in of_app:
            process.send_signal(signal.SIGCONT)
        time.sleep(SKIPPED_S)  # What is typed while the screen comes back is thrown away.
    ratio = median(ratios)
    detail = f"{spread(ratios)} turns; {median(rates):,.0f} samples/s under the app"
    return line(
        f"app / bare loop, lasagne-mlp, batch {batch_size}", ratio, "", ">= 0.95", ratio >= 0.95, detail
    )


def measure(turns: int = 11) -> list[dict[str, Any]]:
    """The ratio at both batch sizes."""
    return [compare(batch_size, turns) for batch_size in (1024, 32)]


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
