"""GPU values through the real nvidia-ml-py, from a simulated driver whose answers are known."""

from __future__ import annotations

import statistics
from typing import Any

import pytest

from simulated_driver.cards import DATA_CENTRE, GIB, OLD, Card
from simulated_driver.driver import SimulatedDriver
from simulated_driver.watched import WatchedTelemetry, has_rates, measures, wait_for_rounds

HEALTHY = {
    "index": 0,
    "uuid": "GPU-00000000-0000-4000-8000-000000000000",
    "name": "NVIDIA H100 80GB HBM3",
    "utilisation": 0.37,
    "memory_used_bytes": 12 * GIB,
    "memory_total_bytes": 80 * GIB,
    "memory_reserved_bytes": GIB // 2,
    "memory_free_bytes": 80 * GIB - 12 * GIB - GIB // 2,
    "pcie_source": "byte_counters",
    "pcie_generation": 5,
    "pcie_width": 16,
    "pcie_generation_max": 5,
    "pcie_width_max": 16,
    "pcie_link_bytes_per_s": 16 * 3.938e9,
    "sm_clock_mhz": 1755,
    "sm_clock_max_mhz": 1980,
    "memory_clock_mhz": 2619,
    "power_w": 652.5,
    "power_limit_w": 700.0,
    "temperature_c": 54,
    "throttle": ["sw_power_cap"],
}
"""What the data-centre card answers, but for the rates."""


def without_detail(gpu: Any) -> dict[str, Any]:
    """A GPU's fields that are known, but for the long tail."""
    known = {name: value for name, value in vars(gpu).items() if value is not None}
    del known["detail"]
    return known


def test_healthy_card(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(has_rates)
        rates = []
        for _ in range(15):
            gpu = watched.latest().gpus[0]
            rates.append((gpu.pcie_rx_bytes_per_s, gpu.pcie_tx_bytes_per_s))
            wait_for_rounds(simulated_driver, watched, 1)
    assert reading.gpu_absence is None
    assert reading.driver == "575.57.08"
    assert 0 <= reading.age_s < 30
    assert vars(reading.troubles) == {}
    gpu = without_detail(reading.gpus[0])
    del gpu["pcie_rx_bytes_per_s"], gpu["pcie_tx_bytes_per_s"]
    assert gpu == HEALTHY
    assert statistics.median(rx for rx, _ in rates) == pytest.approx(2e9, rel=0.1)
    assert statistics.median(tx for _, tx in rates) == pytest.approx(0.5e9, rel=0.1)


def test_values_are_followed(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        watched.until(measures)
        simulated_driver.set(
            {
                "gpu0.utilisation_percent": 0,
                "gpu0.clock_event_reasons": 0x621,
                "gpu0.pcie_generation": 1,
                "gpu0.pcie_width": 4,
            }
        )
        reading = watched.until(lambda reading: reading.gpus[0].pcie_width == 4)
        reading = watched.until(lambda reading: reading.gpus[0].utilisation == 0)
        reading = watched.until(lambda reading: reading.gpus[0].throttle != ["sw_power_cap"])
        assert reading.gpus[0].throttle == ["idle", "sw_thermal_slowdown", "board_limit", "reliability"]
        assert reading.gpus[0].pcie_generation == 1
        simulated_driver.set({"gpu0.clock_event_reasons": 0})
        watched.until(lambda reading: reading.gpus[0].throttle == [])


def test_old_card_is_not_asked_twice_for_what_it_does_not_support(
    simulated_driver: SimulatedDriver,
) -> None:
    simulated_driver.cards(OLD)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        gpu = watched.until(measures).gpus[0]
        wait_for_rounds(simulated_driver, watched, 25)
        calls = {name: simulated_driver.calls(name) for _, name, _ in simulated_driver.log()}
    assert gpu.memory_used_bytes == 512 * 2**20
    for unknown in ("utilisation", "power_w", "power_limit_w", "throttle", "sm_clock_max_mhz"):
        assert getattr(gpu, unknown) is None
    assert gpu.pcie_rx_bytes_per_s is gpu.pcie_tx_bytes_per_s is gpu.pcie_source is None
    for refused in (
        "nvmlDeviceGetUtilizationRates",
        "nvmlDeviceGetPowerUsage",
        "nvmlDeviceGetEnforcedPowerLimit",
        "nvmlDeviceGetPowerManagementLimit",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetCurrentClocksThrottleReasons",
        "nvmlDeviceGetPcieThroughput",
    ):
        assert calls[refused] == 1, refused
    assert calls["nvmlDeviceGetMaxClockInfo"] == 2  # once for each clock
    # Once each for power, byte counters, NVLink counters, throttle counters, memory temperature.
    assert calls["nvmlDeviceGetFieldValues"] == 5
    assert calls["nvmlInitWithFlags"] == 1
    assert calls["nvmlDeviceGetHandleByIndex_v2"] == 1


def test_older_library_is_asked_the_older_way(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.without(
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetFieldValues",
    )
    simulated_driver.cards()
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        gpu = watched.until(has_rates).gpus[0]
    assert gpu.memory_used_bytes == 12 * GIB + GIB // 2  # the older query counts what is reserved
    assert gpu.temperature_c == 54
    assert gpu.throttle == ["sw_power_cap"]
    assert gpu.power_w == 698.0
    assert gpu.pcie_source == "20_ms_window"
    assert gpu.pcie_rx_bytes_per_s == 1_900_000_000
    assert gpu.pcie_tx_bytes_per_s == 400_000_000


def test_two_gpus_keep_their_own_values(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(
        DATA_CENTRE, {**DATA_CENTRE, "name": "Other", "utilisation_percent": 99, "temperature_c": 71}
    )
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        first, second = watched.until(
            lambda reading: [gpu.temperature_c for gpu in reading.gpus] == [54, 71]
        ).gpus
    assert (first.index, first.name, first.utilisation) == (0, "NVIDIA H100 80GB HBM3", 0.37)
    assert (second.index, second.name, second.utilisation) == (1, "Other", 0.99)
    assert first.uuid != second.uuid


@pytest.mark.parametrize(
    ("code", "words"), [(15, "GPU 1 is lost"), (999, "GPU 1 answers everything with `unknown error`")]
)
def test_gpu_lost_mid_run(simulated_driver: SimulatedDriver, code: int, words: str) -> None:
    simulated_driver.cards(DATA_CENTRE, DATA_CENTRE)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        before = watched.until(lambda reading: measures(reading) and reading.gpus[1].temperature_c == 54)
        simulated_driver.set({"gpu1.*.error": code})
        reading = watched.until(lambda reading: vars(reading.troubles) != {})
        assert words in vars(reading.troubles)["1"]
        lost = without_detail(reading.gpus[1])
        assert lost.pop("trouble") == vars(reading.troubles)["1"]
        assert lost.pop("uuid") == before.gpus[1].uuid
        assert lost.pop("name") == before.gpus[1].name
        assert lost.pop("index") == 1
        assert lost == {}
        # It is left in peace meanwhile, and the other one goes on.
        simulated_driver.set({"gpu0.utilisation_percent": 12})
        reading = watched.until(lambda reading: reading.gpus[0].utilisation == 0.12)
        asked = simulated_driver.calls(gpu=1)
        wait_for_rounds(simulated_driver, watched, 25)
        assert simulated_driver.calls(gpu=1) - asked <= 8
        assert reading.gpu_absence is None
        # It comes back.
        simulated_driver.set({"gpu1.*.error": None})
        reading = watched.until(lambda reading: reading.gpus[1].temperature_c == 54)
        assert vars(reading.troubles) == {}


def test_gpu_whose_look_up_fails_is_listed(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(DATA_CENTRE, DATA_CENTRE)
    simulated_driver.set({"gpu0.nvmlDeviceGetHandleByIndex_v2.error": 4})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(
            lambda reading: len(reading.gpus) == 2 and reading.gpus[1].utilisation == 0.37
        )
    assert [gpu.index for gpu in reading.gpus] == [0, 1]
    assert reading.gpus[0].uuid is reading.gpus[0].utilisation is None
    assert vars(reading.troubles) == {"0": "GPU 0: no permission to read it."}


def test_one_unknown_error_is_not_a_lost_gpu(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"gpu0.nvmlDeviceGetUtilizationRates.error": 999})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(has_rates)
        assert reading.gpus[0].utilisation is None
        assert reading.gpus[0].power_w == 652.5
        assert vars(reading.troubles) == {}
        simulated_driver.set({"gpu0.nvmlDeviceGetUtilizationRates.error": None})
        watched.until(lambda reading: reading.gpus[0].utilisation == 0.37)


def test_no_permission_is_named_and_not_asked_again(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards()
    simulated_driver.set({"nvmlDeviceGetUtilizationRates.error": 4})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        reading = watched.until(has_rates)
        wait_for_rounds(simulated_driver, watched, 10)
    assert reading.gpus[0].utilisation is None
    assert vars(reading.troubles) == {"0": "GPU 0: no permission to read utilisation"}
    assert simulated_driver.calls("nvmlDeviceGetUtilizationRates") == 1


GARBAGE: Card = {
    "name": "NVIDIA A30 \\xf8\\xff",
    "utilisation_percent": 0xFFFFFFFF,
    "memory_total_bytes": 0,
    "memory_used_bytes": 123,
    "power_mw": 0xFFFFFFFF,
    "field.186": 0xFFFFFFFF,
    "field.186.type": 1,
    "power_limit_mw": 0xFFFFFFFF,
    "temperature_c": 4242,
    "sm_clock_mhz": 0xFFFFFFFF,
    "sm_clock_max_mhz": 0,
    "memory_clock_mhz": 0xFFFFFFFF,
    "pcie_generation": 0,
    "pcie_generation_max": 10,
    "pcie_width": 0,
    "pcie_width_max": 64,
    "pcie_tx_kb_per_s": 0xFFFFFFFF,
    "pcie_rx_kb_per_s": 5,
    "clock_event_reasons": 2**64 - 1,
}


def test_garbage_becomes_unknown(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards(GARBAGE)
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        read = watched.until(has_rates).gpus[0]
    gpu = without_detail(read)
    # What came through with it is right.
    assert gpu.pop("uuid") == "GPU-00000000-0000-4000-8000-000000000000"
    assert gpu.pop("pcie_rx_bytes_per_s") == 5000
    assert gpu.pop("pcie_source") == "20_ms_window"
    assert gpu.pop("index") == 0
    assert gpu == {}
    assert {name for name, value in vars(read.detail).items() if value is not None} == {"denied"}
    assert read.detail.denied == []


def test_name_that_is_no_text_spoils_nothing_else(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards({**DATA_CENTRE, "name": "NVIDIA A30 \\xf8"})
    with WatchedTelemetry(simulated_driver.environment(), interval_s=2.0) as watched:
        watched.tell("start")
        reading = watched.until(lambda reading: reading.gpus or not reading.gpu_absence.startswith("asking"))
    assert reading.gpu_absence is None
    assert reading.gpus[0].name is None
    assert reading.gpus[0].utilisation == 0.37


def test_more_memory_used_than_there_is(simulated_driver: SimulatedDriver) -> None:
    simulated_driver.cards({**DATA_CENTRE, "memory_used_bytes": 2**64 - 1})
    with WatchedTelemetry(simulated_driver.environment()) as watched:
        watched.tell("start")
        gpu = watched.until(has_rates).gpus[0]
    assert gpu.memory_used_bytes is None
    assert gpu.memory_total_bytes == 80 * GIB
