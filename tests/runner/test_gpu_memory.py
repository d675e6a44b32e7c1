"""Whose memory a GPU has, and who has something in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fake_binding import (
    NOT_SUPPORTED,
    Binding,
    fault,
    question,
)
from gputrain_runner.telemetry import gpu_processes, memory
from gputrain_runner.telemetry.driver import DriverError, Kind


@pytest.mark.parametrize(
    "known", [{"compute_capability": "12.1"}, {"pcie_generation_max": 1, "pcie_width_max": 1}]
)
@pytest.mark.parametrize("total", [0, None])
def test_one_chip_with_its_cpu_has_the_hosts_memory(known: dict[str, Any], total: int | None) -> None:
    none = SimpleNamespace(total=0, used=0, free=0, reserved=0)
    binding = Binding(nvmlDeviceGetMemoryInfo=fault(NOT_SUPPORTED) if total is None else lambda *_: none)
    asking = question(binding, known=known)
    for way in (memory.from_version_2, memory.from_version_1):
        with pytest.raises(DriverError) as refused:
            way(asking)
        assert refused.value.kind is Kind.UNSUPPORTED
    values = memory.from_host(asking)
    assert values["memory_source"] == "host"
    assert 0 < values["memory_used_bytes"] < values["memory_total_bytes"]


def test_a_card_that_does_not_tell_its_memory_has_not_the_hosts() -> None:
    with pytest.raises(DriverError):
        memory.from_host(question(Binding(), known={"pcie_generation_max": 3, "pcie_width_max": 16}))


OURS, CHILD = os.getpid(), os.getppid()
ELSEWHERE = 4_194_303


def processes(compute: list[tuple[int, int | None]], graphics: list[tuple[int, int | None]] | int) -> Any:
    def rows(of: list[tuple[int, int | None]]) -> Callable[..., Any]:
        return lambda _: [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in of]

    binding = Binding(
        nvmlDeviceGetComputeRunningProcesses_v3=rows(compute),
        nvmlDeviceGetGraphicsRunningProcesses_v3=fault(graphics)
        if isinstance(graphics, int)
        else rows(graphics),
    )
    asking = question(binding, ours=frozenset({OURS}), known={"memory_total_bytes": 1000})
    return SimpleNamespace(**gpu_processes.ask("_v3")(asking))


def test_processes_are_told_from_ours_and_counted_once() -> None:
    told = processes([(OURS, 300), (CHILD, 50)], [(CHILD, 60)])
    by_pid = {process.pid: process for process in told.processes}
    assert {pid: (process.memory_bytes, process.ours) for pid, process in by_pid.items()} == {
        OURS: (300, True),
        CHILD: (60, False),
    }
    assert all(process.name for process in told.processes)
    assert (told.memory_ours_bytes, told.memory_others_bytes) == (300, 60)


def test_no_process_is_a_measured_zero() -> None:
    told = processes([], [])
    assert (told.processes, told.memory_ours_bytes, told.memory_others_bytes) == ([], 0, 0)


def test_rows_that_cannot_be_are_dropped_and_spoil_the_sums() -> None:
    told = processes([(OURS, 300), (4_294_967_295, 5), (0, 77), (CHILD, 2**60)], NOT_SUPPORTED)
    assert [process.pid for process in told.processes] == [OURS]
    assert told.memory_ours_bytes is told.memory_others_bytes is None


@pytest.mark.parametrize("row", [(0, 77), (4_294_967_295, None), (CHILD, 2**60), (-1, 5)])
def test_rows_none_of_which_can_be_are_not_that_there_is_no_process(row: tuple[int, int | None]) -> None:
    told = processes([row], [])
    assert told.processes is told.memory_ours_bytes is told.memory_others_bytes is None


def test_process_of_another_system_may_be_ours() -> None:
    told = processes([(ELSEWHERE, 300)], [])
    assert (told.processes[0].ours, told.processes[0].name) == (None, None)
    assert told.memory_ours_bytes is told.memory_others_bytes is None


def test_memory_that_is_not_accounted_per_process() -> None:
    told = processes([(OURS, None)], [])
    assert told.processes[0].memory_bytes is told.memory_ours_bytes is None
    assert told.memory_others_bytes == 0


def test_a_list_that_is_refused_is_not_asked_for_again() -> None:
    asked: list[object] = []

    def refuse(handle: object) -> None:
        asked.append(handle)
        fault(NOT_SUPPORTED)()

    binding = Binding(
        nvmlDeviceGetComputeRunningProcesses_v3=lambda _: [],
        nvmlDeviceGetGraphicsRunningProcesses_v3=refuse,
    )
    asking = question(binding)
    for _ in range(3):
        assert gpu_processes.ask("_v3")(asking)["processes"] == []
    assert len(asked) == 1
