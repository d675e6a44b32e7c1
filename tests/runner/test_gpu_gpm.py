"""GPM: what is made of a Hopper card's performance counters, and that they are asked for as they must be."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from fake_binding import (
    HANDLE,
    LOST,
    NOT_SUPPORTED,
    Binding,
    Clock,
    DriverFault,
    fault,
    question,
)
from gputrain_runner.telemetry import gpm, nvlink, pcie
from gputrain_runner.telemetry.device import Device, Means
from gputrain_runner.telemetry.driver import Driver, DriverError, Kind
from gputrain_runner.telemetry.meter import Meter
from gputrain_runner.telemetry.metrics import METRICS
from gputrain_runner.telemetry.pace import Pace


class Gpm:
    """A driver with GPM: snapshots are numbers, figures are set by the test."""

    def __init__(self, **figures: float | int) -> None:
        self.figures: Mapping[int, float | DriverFault] = {}
        self.taken = 0
        self.living: set[int] = set()
        self.compared: list[tuple[int, int]] = []
        self.supported = 1
        self.binding = Binding(
            nvmlGpmQueryDeviceSupport=lambda _: SimpleNamespace(isSupportedDevice=self.supported),
            nvmlGpmSampleAlloc=self._alloc,
            nvmlGpmSampleGet=self._get,
            nvmlGpmSampleFree=lambda snapshot: self.living.remove(_number(snapshot)),
            nvmlGpmMetricsGet=self._compare,
        )

    def _alloc(self) -> Any:
        number = 1 + max(self.living, default=0)
        self.living.add(number)
        return ctypes.cast(number, pynvml.c_nvmlGpmSample_t)

    def _get(self, handle: object, snapshot: Any) -> None:
        assert handle == HANDLE and _number(snapshot) in self.living
        self.taken += 1

    def _compare(self, request: Any) -> None:
        assert request.version == 1
        self.compared.append((_number(request.sample1), _number(request.sample2)))
        for at in range(request.numMetrics):
            metric = request.metrics[at]
            figure = self.figures.get(metric.metricId, DriverFault(NOT_SUPPORTED))
            metric.nvmlReturn = figure.code if isinstance(figure, DriverFault) else 0
            metric.value = math.inf if isinstance(figure, DriverFault) else figure


def _number(snapshot: Any) -> int:
    return ctypes.cast(snapshot, ctypes.c_void_p).value or 0


def test_gpm_compares_the_two_newest_snapshots_in_one_call() -> None:
    clock, driver = Clock(), Gpm()
    driver.figures = {
        gpm.SM: 87.5,
        gpm.TENSOR: 100.2,
        gpm.DRAM: math.nan,
        gpm.OCCUPANCY: 4000.0,
        gpm.GRAPHICS: 0.0,
    }
    asking = question(driver.binding, clock=clock)
    assert gpm.from_snapshots(asking) == {}
    clock.now += 0.5
    assert gpm.from_snapshots(asking) == {
        "sm_active": 0.875,
        "tensor_active": 1.0,
        "dram_active": None,
        "sm_occupancy": None,
        "graphics_active": 0.0,
    }
    clock.now += 0.5
    gpm.from_snapshots(asking)
    assert driver.compared == [(1, 2), (2, 1)]
    asking.notes["snapshots"].close()
    assert driver.living == set()


def test_gpm_snapshots_lie_a_tenth_of_a_second_apart() -> None:
    clock, driver = Clock(), Gpm()
    asking = question(driver.binding, clock=clock)
    gpm.from_snapshots(asking)
    for _ in range(3):
        clock.now += 0.03
        assert gpm.from_snapshots(asking) == {}
    assert driver.taken == 1
    clock.now += 0.03
    assert gpm.from_snapshots(asking) != {}


def test_gpm_traffic_is_in_bytes_and_each_metric_has_its_own_verdict() -> None:
    clock, driver = Clock(), Gpm()
    driver.figures = {gpm.PCIE_TX: 1.5, gpm.PCIE_RX: 1000.0, gpm.NVLINK_RX: 2.0}
    asking = question(driver.binding, clock=clock)
    gpm.from_snapshots(asking)
    assert pcie.from_gpm(asking)["pcie_source"] is None  # not yet known
    clock.now += 1
    gpm.from_snapshots(asking)
    assert pcie.from_gpm(asking) == {
        "pcie_tx_bytes_per_s": 1.5 * 2**20,
        "pcie_rx_bytes_per_s": 1000.0 * 2**20,
        "pcie_source": "gpm",
    }
    with pytest.raises(DriverError) as refused:  # of NVLink one direction is not supported
        nvlink.from_gpm(asking)
    assert refused.value.kind is Kind.UNSUPPORTED


def test_pcie_takes_the_next_way_where_gpm_is_refused() -> None:
    driver = Gpm()
    driver.supported = 0
    asking = question(driver.binding)
    for way in (gpm.from_snapshots, pcie.from_gpm, nvlink.from_gpm):
        with pytest.raises(DriverError) as refused:
            way(asking)
        assert refused.value.kind is Kind.UNSUPPORTED


def test_gpm_that_fails_for_once_leaves_no_old_figures() -> None:
    clock, driver = Clock(), Gpm()
    driver.figures = {gpm.PCIE_TX: 1.0, gpm.PCIE_RX: 1.0}
    asking = question(driver.binding, clock=clock)
    gpm.from_snapshots(asking)
    clock.now += 1
    gpm.from_snapshots(asking)
    driver.binding.nvmlGpmSampleGet = fault(23)  # type: ignore[attr-defined]
    clock.now += 1
    with pytest.raises(DriverError):
        gpm.from_snapshots(asking)
    assert pcie.from_gpm(asking) == dict.fromkeys(pcie.FIELDS)


def test_gpm_snapshots_are_given_back_when_the_gpu_is_lost() -> None:
    clock, driver = Clock(), Gpm()
    driver.binding.nvmlDeviceGetHandleByIndex = lambda _: HANDLE  # type: ignore[attr-defined]
    means = Means(Driver(driver.binding, Meter()), Pace(1), 1.0, clock)  # type: ignore[arg-type]
    device = Device(0, means, [metric for metric in METRICS if metric.name in ("gpm", "power_w")])
    device.sample(lambda: False)
    clock.now += 1
    device.sample(lambda: False)
    assert len(driver.living) == 2
    driver.binding.nvmlGpmSampleGet = fault(LOST)  # type: ignore[attr-defined]
    clock.now += 1
    device.sample(lambda: False)
    assert "is lost" in (device.trouble or "")
    assert driver.living == set()
