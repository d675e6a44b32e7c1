"""What telemetry says of the host's cores, and whose time it is."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import pytest

from gputrain_runner.telemetry.cores import usable_cores
from gputrain_runner.telemetry.cpu_times import CpuTimes, CpuUse
from simulated_driver.watched import WatchedTelemetry

Times = namedtuple("Times", "user system idle iowait guest")


def uses(usable: frozenset[int] | None, *looks: list[Times]) -> list[CpuUse]:
    """What each look says."""
    waiting = list(looks)
    cpu = CpuTimes(usable, lambda: waiting.pop(0))
    return [cpu.use() for _ in looks]


def test_cores_since_the_last_look() -> None:
    before = [Times(0, 0, 0, 1, 0), Times(0, 0, 0, 0, 0), Times(5, 0, 5, 0, 0)]
    after = [Times(1, 0, 7, 3, 1), Times(9, 1, 0, 0, 0), Times(7, 1, 12, 0, 0)]
    first, second = uses(None, before, after)
    assert first == CpuUse()
    # 10 s each: the second of a guest's is in the user's already.
    assert second.utilisation == pytest.approx((1 + 10 + 3) / 30)
    assert second.busiest == 1.0
    assert second.iowait == pytest.approx(2 / 30)
    assert second.busy_cores == pytest.approx(1.4)


def test_the_busiest_core_is_one_that_may_be_used() -> None:
    before = [Times(0, 0, 0, 0, 0)] * 2
    after = [Times(2, 0, 8, 0, 0), Times(10, 0, 0, 0, 0)]
    assert uses(frozenset({0}), before, after)[1].busiest == pytest.approx(0.2)


def test_nothing_is_known_when_cores_come_or_go_or_time_stands_still() -> None:
    one, two = [Times(1, 0, 1, 0, 0)], [Times(1, 0, 1, 0, 0)] * 2
    assert uses(None, one, two, two) == [CpuUse()] * 3


def test_a_system_that_does_not_account_waiting_for_disks() -> None:
    assert uses(None, [Times(0, 0, 0, 0, 0)], [Times(1, 0, 1, 0, 0)])[1].iowait is None


@pytest.mark.parametrize(
    ("quota", "cores"), [("50000 100000", 0.5), ("100000000 100000", None), ("max 100000", None)]
)
def test_usable_cores_are_affinity_and_quota(tmp_path: Path, quota: str, cores: float | None) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "sys/fs/cgroup/job").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/job/cpu.max").write_text(quota + "\n")
    assert usable_cores(tmp_path) == (usable_cores(tmp_path / "nowhere") if cores is None else cores)


def test_host_load_tells_whose_time_it_is(no_library: dict[str, str]) -> None:
    with WatchedTelemetry(no_library) as watched:
        watched.tell("start")
        host = watched.until(lambda reading: reading.host.others_cpu_utilisation is not None).host
        assert 0 <= host.busiest_core_utilisation <= 1
        assert host.busiest_core_utilisation >= host.cpu_utilisation - 1e-6
        assert host.usable_cores > 0
        assert host.worker_processes is None
        watched.tell("watch", watched.process.pid)
        host = watched.until(lambda reading: reading.host.worker_processes is not None).host
        assert host.worker_processes >= 1
