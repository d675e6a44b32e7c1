"""What the benchmarks share: the app at work in a terminal, and how figures are printed."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from terminal import PROGRAM, Terminal


@dataclass
class Running:
    """The app, training and recording."""

    terminal: Terminal
    recording: Path

    def timeline(self) -> list[dict[str, Any]]:
        """The recording's timeline so far."""
        entries: list[dict[str, Any]] = json.loads(self.recording.read_text())["timeline"]
        return entries

    def wait_steady(self, timeout_s: float = 60.0) -> None:
        """Wait until the newest sample is steady."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if self.recording.exists():
                samples = [entry for entry in self.timeline() if entry["kind"] == "sample"]
                if samples and samples[-1]["steady"]:
                    return
            time.sleep(0.1)
        raise AssertionError(f"never steady; the screen shows:\n{self.terminal.text}")


@contextmanager
def app(
    *arguments: str, columns: int = 160, rows: int = 48, environment: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """The app with live panels and a recording, ended by `q`."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "bench.json"
        command = [PROGRAM, *arguments, "--record", str(recording)]
        with Terminal(command, columns=columns, rows=rows, environment=environment) as terminal:
            running = Running(terminal, recording)
            running.wait_steady()
            # A user's terminal is emulated elsewhere, not by the machine that trains.
            terminal.emulated = False
            yield running
            terminal.send("q")
            terminal.wait_end()


def line(name: str, value: float, unit: str, must: str, met: bool, detail: str = "") -> dict[str, Any]:
    """Print one figure beside its budget; the same as data."""
    print(
        f"{name:<58} {value:>9.3f} {unit:<8} must {must:<9} {'met' if met else 'MISSED'}  {detail}",
        flush=True,
    )
    return {"name": name, "value": value, "unit": unit, "must": must, "met": met, "detail": detail}


def spread(values: list[float]) -> str:
    """Minimum and maximum in words."""
    return f"min {min(values):.3f} max {max(values):.3f} of {len(values)}"


def median(values: list[float]) -> float:
    """The median."""
    return statistics.median(values)
