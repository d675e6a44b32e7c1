"""What a card or driver refused is not asked again, whatever the card."""

from __future__ import annotations

import pytest

from simulated_driver.driver import SimulatedDriver
from simulated_driver.scenarios import SCENARIOS
from simulated_driver.watched import WatchedTelemetry

MACHINES = ("old", "vgpu", "laptop", "trained_down", "healthy", "garbage", "unified", "mig")


def test_no_call_repeats_after_not_supported(simulated_driver: SimulatedDriver) -> None:
    """One machine with all kinds of cards."""
    simulated_driver.cards(*(SCENARIOS[name].cards[0] for name in MACHINES))
    with WatchedTelemetry(simulated_driver.environment(), interval_s=0.02) as watched:
        watched.tell("start")
        # What is asked rarely has been asked twice: nearly all was asked that ever is.
        last = len(MACHINES) - 1
        watched.until(lambda _: simulated_driver.calls("nvmlDeviceGetRemappedRows", gpu=last) >= 2)
        refused = simulated_driver.refused()
        watched.until(lambda _: simulated_driver.calls("nvmlDeviceGetRemappedRows", gpu=last) >= 3)
    assert len(refused) > 40
    later = simulated_driver.refused()[len(refused) :]
    assert set(later).isdisjoint(refused)
    assert all(most <= 1 for gpu, most in simulated_driver.most_at_once().items() if gpu >= 0)


def test_time_in_the_driver_is_told_as_it_is(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(SCENARIOS["healthy"].cards[0])
    simulated_driver.set({"nvmlDeviceGetMemoryInfo_v2.delay_ms": 20})
    with WatchedTelemetry(simulated_driver.environment(), interval_s=0.5) as watched:
        watched.tell("start")
        watched.until(lambda _: simulated_driver.calls("nvmlDeviceGetMemoryInfo_v2") >= 3)
        told = watched.latest().host.nvml_ms_per_s
        seconds = simulated_driver.log()[-1][0]
        counted = simulated_driver.spent_ms() / seconds
    # It is measured where the caller waits, and so can only be more.
    assert told >= 0.8 * counted
    assert counted == pytest.approx(20 * 3 / seconds, rel=0.5)
