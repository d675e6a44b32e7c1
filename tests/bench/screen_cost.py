"""What the screen costs while training runs and plots are live: CPU, bytes to the terminal, memory.

Without a GPU, and over the simulated driver with one and with eight, all of whose values move.
python tests/bench/screen_cost.py [SECONDS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from measuring import Running, app, line
from simulated_driver.cards import H200, Card, card
from simulated_driver.driver import SimulatedDriver, why_not
from simulated_driver.waves import sine

SECONDS = 20.0
SETTLING_S = 3.0
MOST_CPU_PERCENT = 6
MOST_MEMORY_MB = 90
ON_A_CPU = ("--preset", "lasagne-mlp", "--device", "cpu")


@dataclass(frozen=True)
class Case:
    """A screen to be measured."""

    name: str
    gpus: int
    columns: int
    rows: int
    most_bytes_per_s: int
    keys: str = ""
    """Pressed before, to reach the screen."""


CASES = (
    Case("160x48", 0, 160, 48, 16_000),
    Case("80x24", 0, 80, 24, 6_000),
    Case("160x48, 1 GPU", 1, 160, 48, 16_000),
    Case("80x24, 1 GPU, its view", 1, 80, 24, 6_000, keys="2"),
    Case("160x48, 8 GPUs", 8, 160, 48, 16_000),
    Case("160x48, 8 GPUs, all of them", 8, 160, 48, 16_000, keys="g"),
    Case("80x24, 8 GPUs, all of them", 8, 80, 24, 6_000, keys="g"),
)


def measure(seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Cost in every case; those with GPUs only where there can be a simulated driver."""
    lines = []
    reason = why_not()
    for case in CASES:
        if case.gpus and reason is not None:
            print(f"{case.name}: left out, {reason}", flush=True)
            continue
        with _environment(case.gpus) as environment:
            lines += _measure(case, environment, seconds)
    return lines


def _measure(case: Case, environment: Mapping[str, str] | None, seconds: float) -> list[dict[str, Any]]:
    with app(*ON_A_CPU, columns=case.columns, rows=case.rows, environment=environment) as running:
        for key in case.keys:
            running.terminal.send(key)
        time.sleep(SETTLING_S)
        cpu_percent, bytes_per_s, memory_mb, gpus = _watch(running, seconds)
        if case.keys == "g":
            running.terminal.send("\x1b")
            time.sleep(0.5)
    if gpus != case.gpus:
        raise AssertionError(f"{case.name}: {gpus} GPUs in the recording")
    return [
        line(
            f"CPU of the screen process, {case.name}",
            cpu_percent,
            "% core",
            f"<= {MOST_CPU_PERCENT}",
            cpu_percent <= MOST_CPU_PERCENT,
        ),
        line(
            f"bytes to the terminal, {case.name}",
            bytes_per_s / 1e3,
            "kB/s",
            f"<= {case.most_bytes_per_s // 1000}",
            bytes_per_s <= case.most_bytes_per_s,
        ),
        line(
            f"memory of the screen process, {case.name}",
            memory_mb,
            "MB",
            f"<= {MOST_MEMORY_MB}",
            memory_mb <= MOST_MEMORY_MB,
        ),
    ]


def _watch(running: Running, seconds: float) -> tuple[float, float, float, int]:
    """CPU in percent of a core, bytes a second, memory in MB, and the GPUs that were told of."""
    screen = psutil.Process(running.terminal.pid)
    cpu_before, bytes_before, began = screen.cpu_times(), running.terminal.bytes_received, time.monotonic()
    time.sleep(seconds)
    elapsed_s = time.monotonic() - began
    cpu = screen.cpu_times()
    used_s = cpu.user + cpu.system - cpu_before.user - cpu_before.system
    bytes_per_s = (running.terminal.bytes_received - bytes_before) / elapsed_s
    # A sample tells of the GPUs that do not train only what is new.
    gpus = {
        gpu["index"]
        for entry in running.timeline()
        if entry["kind"] == "sample"
        for gpu in entry["gpus"]
        if gpu["utilisation"] is not None
    }
    return used_s / elapsed_s * 100, bytes_per_s, screen.memory_info().rss / 1e6, len(gpus)


@contextmanager
def _environment(gpus: int) -> Iterator[Mapping[str, str] | None]:
    """Of a machine with so many GPUs; None for this one, whose own are hidden."""
    if not gpus:
        yield {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
        return
    with tempfile.TemporaryDirectory() as folder:
        driver = SimulatedDriver(Path(folder) / "driver", Path(folder) / "builds")
        driver.cards(*(_moving(number) for number in range(gpus)))
        yield driver.environment()


def _moving(number: int) -> Card:
    """A card at work: everything that can move does, and no two cards alike."""
    period_s = 7.3 + number
    return card(
        H200,
        utilisation_percent=sine(70, 25, period_s),
        memory_used_bytes=sine(60e9, 2e9, period_s * 2),
        sm_clock_mhz=sine(1750, 200, period_s * 1.3),
        temperature_c=sine(60, 6, period_s * 3),
        pcie_rx_kb_per_s=sine(2e7, 5e6, period_s),
        **{
            "field.186": sine(600_000, 80_000, period_s),
            "gpm.2": sine(60, 20, period_s),
            "gpm.5": sine(30, 10, period_s),
            "gpm.10": sine(40, 15, period_s),
            "gpm.20": sine(2e3, 5e2, period_s),
            "gpm.21": sine(2e4, 5e3, period_s),
        },
    )


if __name__ == "__main__":
    measure(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
