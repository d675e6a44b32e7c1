"""PCIe traffic end to end: which source is taken, and what its counters' width and cost mean."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from simulated_driver.cards import DATA_CENTRE, WINDOW_ONLY, Card
from simulated_driver.driver import SimulatedDriver
from simulated_driver.watched import WatchedTelemetry, has_rates, wait_for_rounds


def test_costly_call_is_made_rarely(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(WINDOW_ONLY)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        gpu = watched.until(has_rates).gpus[0]
        wait_for_rounds(simulated_driver, watched, 25)
        made_s = [at for at, name, _ in simulated_driver.log() if name == "nvmlDeviceGetPcieThroughput"]
    assert gpu.pcie_rx_bytes_per_s == 1_900_000_000
    assert gpu.pcie_source == "20_ms_window"
    # Two directions of 20 ms each, under 1 % of the time.
    assert all(later - earlier > 4 for earlier, later in zip(made_s[::2], made_s[2::2], strict=False))


SLOW_LINK: Card = {
    **DATA_CENTRE,
    "pcie_generation_max": 1,
    "pcie_width_max": 1,
    "field.197": "ramp 4194967296 100000000",
    "field.197.type": 1,
    "field.198": "ramp 4244967296 200000000",
    "field.198.type": 1,
}
"""Its counters are 32 bits wide; they go round 1 s and 0.25 s after the library is loaded."""


def test_narrow_counter_goes_round(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(SLOW_LINK)
    rates: list[tuple[float, float]] = []
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(has_rates)

        def collect(reading: Any) -> bool:
            gpu = reading.gpus[0]
            rates.append((gpu.pcie_tx_bytes_per_s, gpu.pcie_rx_bytes_per_s))
            return simulated_driver.log()[-1][0] > 1.5

        reading = watched.until(collect)
    assert reading.gpus[0].pcie_source == "byte_counters"
    assert statistics.median(tx for tx, _ in rates) == pytest.approx(1e8, rel=0.1)
    assert statistics.median(rx for _, rx in rates) == pytest.approx(2e8, rel=0.1)
    assert all(0 < rate < 2e9 for both in rates for rate in both)


def test_counter_too_narrow_for_the_link_is_refused(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards({**SLOW_LINK, "pcie_generation_max": 5, "pcie_width_max": 16})
    with WatchedTelemetry(simulated_driver.environment(), interval_s=0.1) as watched:
        watched.tell("start")
        gpu = watched.until(has_rates).gpus[0]
    assert gpu.pcie_source == "20_ms_window"
    assert gpu.pcie_rx_bytes_per_s == 1_900_000_000
    assert gpu.pcie_tx_bytes_per_s == 400_000_000
