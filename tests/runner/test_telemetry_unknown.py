"""What a driver tells in numbers that cannot be, or refuses to tell: unknown, and told as people tell it."""

from __future__ import annotations

from simulated_driver.cards import DATA_CENTRE, H200, card
from simulated_driver.driver import SimulatedDriver
from simulated_driver.parts import throttle_seconds
from simulated_driver.watched import WatchedTelemetry, has_rates


def test_processes_that_cannot_be_read_are_not_none_at_all(simulated_driver: SimulatedDriver) -> None:
    rows = {"compute_processes": "0:77 4294967295:5", "graphics_processes": f"1:{2**63}"}
    simulated_driver.cards({**DATA_CENTRE, "compute_processes": "", "graphics_processes": ""})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda reading: reading.gpus and reading.gpus[0].detail.processes == [])
        simulated_driver.change(0, rows)
        gpu = watched.until(lambda reading: reading.gpus[0].detail.processes is None).gpus[0]
    assert gpu.memory_ours_bytes is gpu.memory_others_bytes is None
    assert gpu.trouble is None


def test_held_back_by_counters_that_cannot_be_read_is_not_held_back_by_nothing(
    simulated_driver: SimulatedDriver,
) -> None:
    simulated_driver.cards(card(H200, throttle_seconds()))
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(lambda reading: reading.gpus and reading.gpus[0].throttled is not None)
        simulated_driver.change(0, throttle_seconds(sw_power_cap=1000.0))
        gpu = watched.until(lambda reading: reading.gpus[0].throttled is None).gpus[0]
    assert gpu.throttled_s is None


def test_what_may_not_be_read_is_named_as_people_name_it(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlDeviceGetMemoryInfo_v2.error": 4, "nvmlDeviceGetMemoryInfo.error": 4})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(has_rates)
    assert reading.gpus[0].trouble == (
        "GPU 0: no permission to read memory used, memory size, free memory, memory kept by the driver, "
        "how memory is counted"
    )
    assert "memory_used_bytes" in reading.gpus[0].detail.denied
