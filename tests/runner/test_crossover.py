"""Where one device overtakes another, found on devices whose times are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import pytest

import gputrain_presets
from gputrain_runner.crossover import Contender, Finder, Rung, batch_ladder, size_ladder
from gputrain_runner.measured_run import MeasureError
from gputrain_runner.settings import Settings, Value, initial
from gputrain_runner.steering import Steering
from gputrain_runner.timeline import Sample

LADDER = [Rung(1 << power, float(1 << power)) for power in range(13)]


class KnownDevices:
    """Stands in for a steered session: step times by formula."""

    def __init__(self, lines: dict[str, tuple[float, float]], too_large: Mapping[str, int] = {}) -> None:
        self._lines = lines
        self._too_large = too_large
        self._now: Settings = initial(gputrain_presets.load("lasagne-mlp"), "cpu")
        self.measured: list[tuple[str, int]] = []

    def turn(self, wanted: Mapping[str, Value]) -> str | None:
        device = str(wanted["device"])
        if device not in self._lines:
            return f"device {device}: there is none"
        if int(wanted["batch_size"] or 0) > self._too_large.get(device, 1 << 30):
            return "out of memory"
        for name, value in wanted.items():
            self._now = self._now.with_value(name, value)
        return None

    def measure(self, samples: int) -> list[Sample]:
        a_ms, c_ms = self._lines[self._now.device]
        batch = self._now.batch_size
        self.measured.append((self._now.device, batch))
        step_ms = a_ms + c_ms * batch
        sample = Sample(
            t=0.0,
            step=1,
            epoch=0,
            settings=self._now,
            steady=True,
            samples_per_s=batch / step_ms * 1e3,
            steps_per_s=1e3 / step_ms,
        )
        return [sample] * samples


def finder(devices: KnownDevices, *names: str) -> Finder:
    one, other = (Contender(name) for name in names)
    return Finder(cast(Steering, devices), "batch_size", LADDER, (one, other))


def brute_force(lines: dict[str, tuple[float, float]]) -> int:
    """The first rung at which the GPU is faster."""
    (a1, c1), (a2, c2) = lines.values()
    return next(at for at, rung in enumerate(LADDER) if a2 + c2 * rung.x < a1 + c1 * rung.x)


@pytest.mark.parametrize("gpu_cost", [0.3, 0.9, 2.0, 7.0, 30.0])
def test_the_crossing_is_the_brute_force_sweeps(gpu_cost: float) -> None:
    lines = {"cpu": (0.1, 0.02), "cuda:0": (gpu_cost, 0.0004)}
    devices = KnownDevices(lines)
    found = finder(devices, "cpu", "cuda:0").find()
    first = brute_force(lines)
    assert found.between == (first - 1, first)
    assert found.faster_small == 0
    exact = (gpu_cost - 0.1) / (0.02 - 0.0004)
    assert found.fitted == pytest.approx(exact, rel=1e-6)
    assert found.at is not None and LADDER[first - 1].x <= found.at <= LADDER[first].x
    assert len(devices.measured) < 2 * len(LADDER), "measuring everything needs no search"


def test_one_device_may_be_faster_everywhere() -> None:
    found = finder(KnownDevices({"cpu": (0.1, 0.001), "cuda:0": (0.5, 0.01)}), "cpu", "cuda:0").find()
    assert found.between is None and found.at is None and found.faster_small == 0


def test_sizes_that_do_not_fit_are_left_out() -> None:
    devices = KnownDevices({"cpu": (0.1, 0.02), "cuda:0": (0.9, 0.0004)}, too_large={"cuda:0": 1024})
    found = finder(devices, "cpu", "cuda:0").find()
    assert found.between == (5, 6)
    assert found.curves[1].errors and all(LADDER[rung].x > 1024 for rung in found.curves[1].errors)
    assert found.curves[1].ms[12] is None


def test_a_device_that_is_not_there_is_an_error() -> None:
    with pytest.raises(MeasureError, match="cuda:1: device cuda:1: there is none"):
        finder(KnownDevices({"cpu": (0.1, 0.02)}), "cpu", "cuda:1").find()


def test_steps_too_long_to_wait_for_end_the_ladder() -> None:
    devices = KnownDevices({"cpu": (1.0, 3.0), "cuda:0": (2.0, 3.0)})
    finder(devices, "cpu", "cuda:0").find()
    assert max(batch for _, batch in devices.measured) <= 1024


def test_contenders_are_named_as_devices_are() -> None:
    assert Contender("cpu@2").settings() == {"device": "cpu", "threads": 2}
    assert Contender("cuda").settings() == {"device": "cuda:0"}
    for wrong in ("gpu", "cuda:0@2", "cpu@0", "cpu@x", ""):
        with pytest.raises(ValueError, match="cpu@THREADS"):
            Contender(wrong).settings()


def test_ladders_go_from_small_to_large() -> None:
    rungs = batch_ladder(gputrain_presets.load("lasagne-mlp"))
    assert [rung.value for rung in rungs[:3]] == [1, 2, 4] and rungs[-1].value == 65_536
    assert [rung.value for rung in size_ladder([("big", 100), ("small", 10)])] == ["small", "big"]
