"""A GPU's memory told apart, from what the driver and PyTorch say of it."""

from __future__ import annotations

from gputrain_runner.telemetry.memory_split import split
from gputrain_runner.timeline import Gpu, Memory


def gpu(used: int | None, ours: int | None, others: int | None, reserved: int | None = 5) -> Gpu:
    return Gpu(
        index=0,
        memory_total_bytes=200,
        memory_used_bytes=used,
        memory_reserved_bytes=reserved,
        memory_ours_bytes=ours,
        memory_others_bytes=others,
    )


TORCH = Memory(allocated_bytes=30, reserved_bytes=50)


def test_all_is_told_apart() -> None:
    parts = split(gpu(used=100, ours=62, others=38), TORCH)
    assert (parts.allocated, parts.cached, parts.context, parts.others) == (30, 20, 12, 38)
    assert (parts.free, parts.reserved_by_driver, parts.rest) == (95, 5, 0)


def test_what_nobody_accounts_for_is_the_rest() -> None:
    assert split(gpu(used=100, ours=62, others=20), TORCH).rest == 18


def test_driver_has_not_yet_seen_what_pytorch_just_took() -> None:
    """Its list of processes is older than the sum."""
    parts = split(gpu(used=100, ours=40, others=38), TORCH)
    assert (parts.context, parts.rest) == (12, 0)


def test_processes_that_cannot_be_told_from_ours() -> None:
    parts = split(gpu(used=100, ours=None, others=None), TORCH)
    assert (parts.context, parts.others, parts.rest) == (None, None, 50)


def test_a_gpu_that_does_not_train() -> None:
    parts = split(gpu(used=100, ours=0, others=90), None)
    assert (parts.allocated, parts.cached, parts.context) == (None, None, None)
    assert (parts.others, parts.rest, parts.free) == (90, 10, 95)


def test_nothing_known() -> None:
    parts = split(Gpu(index=0), None)
    assert {parts.allocated, parts.cached, parts.context, parts.others, parts.free, parts.rest} == {None}


def test_the_drivers_own_figure_of_what_is_free_goes_first() -> None:
    assert split(Gpu(index=0, memory_total_bytes=9, memory_used_bytes=3, memory_free_bytes=4), None).free == 4
    assert split(gpu(used=199, ours=None, others=None), None).free == 0
