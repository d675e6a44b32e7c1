"""What is made of the driver's own samples, counters and events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from fake_binding import (
    HANDLE,
    NO_PERMISSION,
    NOT_FOUND,
    NOT_SUPPORTED,
    TIMEOUT,
    Binding,
    Clock,
    DriverFault,
    fault,
    question,
)
from gputrain_runner.telemetry import faults, nvlink, pcie_link, throttling
from gputrain_runner.telemetry import utilisation as utilisation_of
from gputrain_runner.telemetry.driver import DriverError, Kind


class Samples:
    """A driver with samples of utilisation: (seconds, percent)."""

    def __init__(self, *samples: tuple[float, int]) -> None:
        self.samples = list(samples)
        self.binding = Binding(nvmlDeviceGetSamples=self._get)

    def _get(self, handle: object, kind: int, since_us: int) -> tuple[int, list[Any]]:
        assert kind == 1
        found = []
        for at_s, percent in self.samples:
            if at_s * 1e6 > since_us:
                value = SimpleNamespace(uiVal=percent, ullVal=77)
                found.append(SimpleNamespace(timeStamp=int(at_s * 1e6), sampleValue=value))
        if not found:
            raise pynvml.NVMLError(NOT_FOUND)
        return 1, found


def test_utilisation_is_the_mean_of_the_drivers_samples_since_the_last_asking() -> None:
    driver = Samples((1, 100), (9.3, 10), (9.6, 20), (10.0, 60))
    asking = question(driver.binding)
    assert utilisation_of.from_samples(asking) == {"utilisation": 0.3}  # of the last second alone
    driver.samples += [(10.5, 0), (11.0, 50), (11.5, 0xFFFFFFFF)]
    assert utilisation_of.from_samples(asking) == {"utilisation": 0.25}
    driver.samples.append((12.0, 0xFFFFFFFF))
    assert utilisation_of.from_samples(asking) == {"utilisation": None}


def test_samples_that_are_no_longer_kept_up_are_given_up() -> None:
    clock = Clock()
    asking = question(Samples((5, 40)).binding, clock=clock)
    assert utilisation_of.from_samples(asking) == {"utilisation": 0.4}
    clock.now += 1
    assert utilisation_of.from_samples(asking) == {}
    clock.now += 3
    with pytest.raises(DriverError) as refused:
        utilisation_of.from_samples(asking)
    assert refused.value.kind is Kind.UNSUPPORTED


def test_throttled_share_and_seconds_by_reason() -> None:
    clock, binding = Clock(), Binding()
    binding.fields = {74: 5_000_000_000, 269: 0, 270: 10}
    asking = question(binding, clock=clock)
    assert throttling.from_counters(asking) == {"throttled": None, "throttled_s": None}
    clock.now += 2
    binding.fields = {74: 6_500_000_000, 269: 2_000_000_000, 270: 5}  # the last one was reset
    assert throttling.from_counters(asking) == {
        "throttled": {"sw_power_cap": 0.75, "sw_thermal_slowdown": 1.0},
        "throttled_s": {"sw_power_cap": 1.5, "sw_thermal_slowdown": 2.0},
    }
    clock.now += 2
    binding.fields[74] = 7_000_000_000
    assert throttling.from_counters(asking) == {
        "throttled": {"sw_power_cap": 0.25},
        "throttled_s": {"sw_power_cap": 2.0, "sw_thermal_slowdown": 2.0},
    }


def test_throttle_counters_that_are_refused_are_not_asked_again() -> None:
    binding = Binding()
    binding.fields = {74: 1, 270: DriverFault(NO_PERMISSION), 271: DriverFault(23)}
    asking = question(binding)
    throttling.from_counters(asking)
    throttling.from_counters(asking)
    assert [field for field, _ in binding.asked[0]] == list(throttling.COUNTERS)
    assert [field for field, _ in binding.asked[1]] == [74, 271]


@pytest.mark.parametrize(
    ("codes", "kind"),
    [
        ({}, Kind.UNSUPPORTED),
        ({74: NO_PERMISSION}, Kind.NO_PERMISSION),
        ({74: 23, 76: NO_PERMISSION}, Kind.TRANSIENT),
    ],
)
def test_no_throttle_counter_at_all(codes: dict[int, int], kind: Kind) -> None:
    binding = Binding()
    binding.fields = {field: DriverFault(code) for field, code in codes.items()}
    with pytest.raises(DriverError) as refused:
        throttling.from_counters(question(binding))
    assert refused.value.kind is kind


def test_nvlink_counters_are_of_all_links_and_in_bytes() -> None:
    clock, binding = Clock(), Binding()
    binding.fields = {138: 1000, 139: 5000}
    asking = question(binding, clock=clock)
    assert nvlink.from_counters(asking) == dict.fromkeys(nvlink.FIELDS)
    clock.now += 2
    binding.fields = {138: 3000, 139: 4000}
    assert nvlink.from_counters(asking) == {
        "nvlink_tx_bytes_per_s": 1000 * 1024.0,
        "nvlink_rx_bytes_per_s": None,
    }
    assert binding.asked[0] == [(138, 0xFFFFFFFF), (139, 0xFFFFFFFF)]


def test_what_the_link_can_carry_is_judged_under_load() -> None:
    """Idle it runs slowly on purpose; under load a narrow slot shows."""
    known: dict[str, Any] = {
        "pcie_generation_max": 4,
        "pcie_width_max": 16,
        "pcie_generation": 1,
        "pcie_width": 16,
        "utilisation": 0.0,
    }
    asking = question(Binding(), known=known)

    def top() -> float:
        return float(pcie_link.top(asking)["pcie_link_bytes_per_s"])

    assert top() == pytest.approx(16 * 1.969e9)
    known |= {"utilisation": 0.9, "pcie_generation": 4, "pcie_width": 4}
    assert top() == pytest.approx(4 * 1.969e9)
    known |= {"utilisation": 0.0, "pcie_generation": 1}
    assert top() == pytest.approx(4 * 1.969e9)
    assert pcie_link.top(question(Binding()))["pcie_link_bytes_per_s"] is None


def test_xid_errors_are_collected_and_the_last_ones_kept() -> None:
    waiting = [(0x8, 79), (0x8, 10**9), (0x4, 5), *((0x8, number) for number in range(1, 10))]
    registered: list[object] = []
    freed: list[object] = []

    def wait(events: object, timeout_ms: int) -> Any:
        assert (events, timeout_ms) == ("set", 0)
        if not waiting:
            raise pynvml.NVMLError(TIMEOUT)
        kind, data = waiting.pop(0)
        return SimpleNamespace(eventType=kind, eventData=data)

    binding = Binding(
        nvmlEventSetCreate=lambda: "set",
        nvmlDeviceRegisterEvents=lambda *of: registered.append(of),
        nvmlEventSetWait_v2=wait,
        nvmlEventSetFree=freed.append,
    )
    asking = question(binding)
    assert faults.xid_errors(asking) == {"xid_errors": [79, 1, 2, 3, 4, 5]}
    assert faults.xid_errors(asking) == {"xid_errors": [2, 3, 4, 5, 6, 7, 8, 9]}
    assert faults.xid_errors(asking) == {"xid_errors": [2, 3, 4, 5, 6, 7, 8, 9]}
    assert registered == [(HANDLE, 0x8, "set")]
    asking.notes["events"].close()
    assert freed == ["set"]


def test_xid_errors_without_a_number_are_not_that_there_were_none() -> None:
    waiting = [0, 10**9]

    def wait(events: object, timeout_ms: int) -> Any:
        if not waiting:
            raise pynvml.NVMLError(TIMEOUT)
        return SimpleNamespace(eventType=0x8, eventData=waiting.pop())

    binding = Binding(
        nvmlEventSetCreate=lambda: "set",
        nvmlDeviceRegisterEvents=lambda *_of: None,
        nvmlEventSetWait_v2=wait,
        nvmlEventSetFree=lambda _events: None,
    )
    asking = question(binding)
    assert faults.xid_errors(asking) == {"xid_errors": None}
    assert faults.xid_errors(asking) == {"xid_errors": None}
    waiting.append(31)
    assert faults.xid_errors(asking) == {"xid_errors": [31]}


def test_events_that_cannot_be_registered_leave_no_set_behind() -> None:
    freed: list[object] = []
    binding = Binding(
        nvmlEventSetCreate=lambda: "set",
        nvmlDeviceRegisterEvents=fault(NOT_SUPPORTED),
        nvmlEventSetFree=freed.append,
    )
    with pytest.raises(DriverError):
        faults.xid_errors(question(binding))
    assert freed == ["set"]
