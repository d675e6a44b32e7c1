"""What the telemetry says while a point's steps run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fake_session import FakeTelemetry
from gputrain_runner.sweep.watching import Watching
from gputrain_runner.timeline import Gpu, HostLoad


class Looking:
    """A watching moved by hand: telemetry and clock."""

    def __init__(self, uuid: str | None) -> None:
        self.telemetry = FakeTelemetry()
        self.now = 100.0
        self.watching = Watching(self.telemetry, lambda: self.now)
        self.watching.begin(uuid, 4711)

    def at(self, now: float, power_w: float | None, cpu: float | None, age_s: float = 0.0) -> None:
        gpus = [Gpu(index=0, uuid="GPU-other", power_w=1.0), Gpu(index=1, uuid="GPU-1", power_w=power_w)]
        self.now = now
        self.telemetry.reading = replace(
            self.telemetry.reading,
            gpus=gpus,
            host=HostLoad(cpu_utilisation=cpu, memory_used_bytes=int(now * 100)),
            ages_s={0: age_s, 1: age_s},
        )
        self.watching.look()


def test_only_what_was_measured_while_the_steps_ran_counts() -> None:
    looking = Looking("GPU-1")
    assert looking.telemetry.watched == [4711] and looking.telemetry.focused == [frozenset({"GPU-1"})]
    for now, power_w, cpu in ((101, 50.0, 0.1), (103, 100.0, 0.2), (104, 200.0, 0.4), (106, 50.0, 0.9)):
        looking.at(now, power_w, cpu)
    means = looking.watching.means(102.5, 105.0)
    assert means is not None
    assert means["power_w"] == pytest.approx(150.0)
    # The host's figure of 103 is of the second before it too, in which loading went on.
    assert means["cpu_utilisation"] == pytest.approx(0.4)
    assert "sm_active" not in means


def test_a_value_that_is_looked_at_twice_counts_once() -> None:
    looking = Looking("GPU-1")
    looking.at(103.0, 100.0, None)
    looking.at(103.2, 100.0, None, age_s=0.2)
    looking.at(103.4, 200.0, None)
    means = looking.watching.means(102.0, 105.0)
    assert means is not None and means["power_w"] == pytest.approx(150.0)


def test_a_point_on_the_cpu_has_no_figures_of_a_gpu() -> None:
    looking = Looking(None)
    looking.at(103.0, 100.0, 0.5)
    assert looking.watching.means(101.0, 104.0) == {"cpu_utilisation": 0.5}


def test_nothing_measured_is_none_and_points_do_not_mix() -> None:
    looking = Looking("GPU-1")
    looking.at(103.0, 100.0, 0.5)
    assert looking.watching.means(104.0, 105.0) is None
    looking.watching.begin("GPU-1", 4712)
    assert looking.watching.means(0.0, 1000.0) is None
