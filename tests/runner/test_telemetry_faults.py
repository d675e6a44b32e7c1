"""What goes wrong in a card, and what only some cards have: Xid errors, ECC, NVLink counters."""

from __future__ import annotations

import pytest

from simulated_driver.cards import H200, Card, card, without
from simulated_driver.driver import SimulatedDriver
from simulated_driver.parts import KIB
from simulated_driver.watched import WatchedTelemetry, measures
from simulated_driver.waves import counter

ALL_LINKS = 0xFFFFFFFF


def test_faults_are_followed(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(H200)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        detail = watched.until(lambda reading: measures(reading) and reading.gpus[0].detail).gpus[0].detail
        assert (detail.xid_errors, detail.ecc_uncorrected, detail.remapping_pending) == ([], 0, False)
        simulated_driver.change(
            0,
            {
                "xid": "79",
                "ecc.uncorrected.volatile": 2,
                "remapped_rows_uncorrected": 1,
                "remapped_rows_pending": 1,
            },
        )
        reading = watched.until(lambda reading: reading.gpus[0].detail.remapping_pending)
        assert reading.gpus[0].detail.remapped_rows_uncorrected == 1
        reading = watched.until(lambda reading: reading.gpus[0].detail.ecc_uncorrected == 2)
        assert reading.gpus[0].detail.xid_errors == [79]
        simulated_driver.change(0, {"xid": "79 again"})
        watched.until(lambda reading: reading.gpus[0].detail.xid_errors == [79, 79])


def test_nvlink_from_counters_of_a_driver_that_writes_too_much(simulated_driver: SimulatedDriver) -> None:
    """A card before Hopper: its counters are of all links together, in KiB."""
    links: Card = {
        f"field.138.scope.{ALL_LINKS}": counter(40e9 / KIB),
        f"field.139.scope.{ALL_LINKS}": counter(10e9 / KIB),
        "fields_overrun": 1,
    }
    simulated_driver.cards(card(without(H200, "gpm*"), links))
    with WatchedTelemetry(simulated_driver.environment(), interval_s=0.2) as watched:
        watched.tell("start")
        gpu = watched.until(lambda reading: reading.gpus and reading.gpus[0].nvlink_rx_bytes_per_s).gpus[0]
        assert gpu.nvlink_tx_bytes_per_s == pytest.approx(40e9, rel=0.25)
        assert gpu.nvlink_rx_bytes_per_s == pytest.approx(10e9, rel=0.25)
        assert gpu.pcie_source == "byte_counters"
        watched.tell("stop")
        assert watched.leave() == 0
