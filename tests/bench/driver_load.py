"""What the app asks of the NVIDIA driver: calls and milliseconds per second, one GPU and eight.

Counted by a simulated driver whose calls take what was publicly reported of real ones.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from measuring import app, line
from simulated_driver.cards import REAL_COSTS, card
from simulated_driver.driver import SimulatedDriver, why_not
from simulated_driver.scenarios import SCENARIOS

SETTLE_S = 10.0
SECONDS = 30.0
SCREENS = {"training screen": "", "all GPUs": "g"}
"""What is on the screen, and the key that brings it there."""
MOST_MS_PER_S = 10.0
"""Per GPU: 1 % of wall time."""


class Load:
    """What was asked of the driver between two moments."""

    def __init__(self, driver: SimulatedDriver) -> None:
        self._driver = driver
        self._before = Counter(name for name, *_ in driver.answers()), self._spent(), time.monotonic()

    def _spent(self) -> Counter[str]:
        spent: Counter[str] = Counter()
        for name, _, ms, _ in self._driver.answers():
            spent[name] += ms  # type: ignore[assignment]
        return spent

    def per_second(self) -> dict[str, tuple[float, float]]:
        """Calls and milliseconds per second since the beginning, by function."""
        calls, spent, began = self._before
        seconds = time.monotonic() - began
        now, spent_now = Counter(name for name, *_ in self._driver.answers()), self._spent()
        return {
            name: ((now[name] - calls[name]) / seconds, (spent_now[name] - spent[name]) / seconds)
            for name in sorted(now)
            if now[name] > calls[name]
        }


def _measure(gpus: int, folder: Path) -> list[dict[str, Any]]:
    scenario = SCENARIOS["healthy" if gpus == 1 else "eight"]
    driver = SimulatedDriver(folder / str(gpus), folder / "builds")
    driver.cards(*(card(gpu, REAL_COSTS) for gpu in scenario.cards[:gpus]))
    lines = []
    with app("--preset", "lasagne-mlp", "--device", "cpu", environment=driver.environment()) as running:
        time.sleep(SETTLE_S)
        refused = driver.refused()
        for screen, key in SCREENS.items():
            running.terminal.send(key)
            load = Load(driver)
            time.sleep(SECONDS)
            found = load.per_second()
            calls = sum(count for count, _ in found.values())
            ms = sum(spent for _, spent in found.values())
            told = _told(running.timeline())
            most = MOST_MS_PER_S * gpus
            name = f"{gpus} GPU{'s' if gpus > 1 else ''}, {screen}"
            detail = f"the app itself says {told:.2f}"
            lines += [
                line(f"driver calls, {name}", calls, "calls/s", "", True),
                line(f"time in the driver, {name}", ms, "ms/s", f"<= {most:.0f}", ms <= most, detail),
            ]
            for function, (count, spent) in found.items():
                print(f"    {function:<50} {count:>8.2f} calls/s {spent:>8.3f} ms/s")
    again = driver.refused()[len(refused) :]
    lines.append(line(f"refusals after the first, {gpus} GPU(s)", len(again), "calls", "0", not again))
    return lines


def _told(timeline: list[dict[str, Any]]) -> float:
    """What the newest sample says of it."""
    told = [entry["host"]["nvml_ms_per_s"] for entry in timeline if entry["kind"] == "sample"]
    return float(told[-1] or 0.0)


def measure() -> list[dict[str, Any]]:
    """The load of one GPU and of eight; nothing where there can be no simulated driver."""
    reason = why_not()
    if reason is not None:
        print(f"driver load: {reason}")
        return []
    with tempfile.TemporaryDirectory() as folder:
        return [*_measure(1, Path(folder)), *_measure(8, Path(folder))]


if __name__ == "__main__":
    sys.exit(any(not each["met"] for each in measure()))
