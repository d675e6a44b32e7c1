"""Each fault of the NVIDIA driver for half a minute with training on, and how long quitting takes then.

Usage: python tests/bench/driver_faults.py [SECONDS [FAULT ...]]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import Running, line
from simulated_driver.driver import SimulatedDriver, why_not
from simulated_driver.fault_words import WORDS
from simulated_driver.scenarios import FAULTS, Scenario
from terminal import PROGRAM, Terminal

SECONDS = 30.0
MOST_QUIT_S = 0.3
MOST_KEY_S = 0.1


def _wait(condition: Callable[[], bool], timeout_s: float) -> float:
    """Seconds until the condition held; infinite where it did not in time."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > timeout_s:
            return float("inf")
        time.sleep(0.001)
    return time.monotonic() - began


def _steps(running: Running) -> int:
    samples = [entry for entry in running.timeline() if entry["kind"] == "sample"]
    return int(samples[-1]["step"])


def _key_s(terminal: Terminal) -> float:
    """How long the mark takes to move to the next setting."""
    terminal.wait_for("▸ batch size")
    terminal.send("\x1b[B")
    return _wait(lambda: "▸ model size" in terminal.text, 10.0)


def measure_fault(scenario: Scenario, seconds: float, folder: Path) -> list[dict[str, Any]]:
    """One fault: training, words, keys and quitting."""
    driver = SimulatedDriver(folder / scenario.name, folder / "builds")
    scenario.play(driver)
    recording = folder / f"{scenario.name}.json"
    command = [PROGRAM, "--preset", "lasagne-mlp", "--device", "cpu", "--record", str(recording)]
    with Terminal(command, columns=160, rows=48, environment=driver.environment()) as terminal:
        running = Running(terminal, recording)
        running.wait_steady()
        scenario.strike(driver)
        before = _steps(running)
        time.sleep(seconds)
        steps_per_s = (_steps(running) - before) / seconds
        words = WORDS[scenario.name].search(terminal.text) is not None
        key_s = _key_s(terminal)
        terminal.send("q")
        quit_s = _wait(lambda: not terminal.process.isalive(), 10.0)
        code = terminal.process.exitstatus
    name = scenario.name
    shown = "" if words else f"the screen showed:\n{terminal.text}"
    return [
        line(f"{name}: training goes on", steps_per_s, "steps/s", "> 0", steps_per_s > 0),
        line(f"{name}: the reason is in words", float(words), "", "yes", words, shown),
        line(f"{name}: a key answers", 1e3 * key_s, "ms", f"<= {1e3 * MOST_KEY_S:.0f}", key_s <= MOST_KEY_S),
        line(f"{name}: quitting", quit_s, "s", f"<= {MOST_QUIT_S}", quit_s <= MOST_QUIT_S and code == 0),
    ]


def measure(seconds: float = SECONDS, only: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """All faults; nothing where there can be no simulated driver."""
    reason = why_not()
    if reason is not None:
        print(f"driver faults: {reason}")
        return []
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for scenario in FAULTS:
            if not only or scenario.name in only:
                lines += measure_fault(scenario, seconds, Path(folder))
    return lines


if __name__ == "__main__":
    asked = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    sys.exit(any(not each["met"] for each in measure(asked, tuple(sys.argv[2:]))))
