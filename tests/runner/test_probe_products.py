"""How the probe finds the size at which matrix products fill a device, on devices made up by the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gputrain_runner.worker.devices import CONTEXT_LOST
from gputrain_runner.worker.probe import products
from gputrain_runner.worker.probe.timing import Room

GB = 1 << 30
Tried = list[int]


def on_device(
    monkeypatch: pytest.MonkeyPatch, seconds_of: Callable[[int], float], *, most: int = 1 << 20
) -> Tried:
    """Let products take this time by their size; larger ones than `most` find no memory."""
    tried: Tried = []

    class Product:
        def __init__(self, room: Room, precision: str, size: int) -> None:
            tried.append(size)
            if size > most:
                raise torch.OutOfMemoryError("CUDA out of memory")
            self.size, self.seconds = size, seconds_of(size)
            self.tried_flops_per_s = 2 * size**3 / self.seconds

    monkeypatch.setattr(products, "Product", Product)
    return tried


def chosen(precision: str = "fp32", *, memory_bytes: int = 64 * GB, repeat_s: float = 0.1) -> int | None:
    room = Room(torch.device("cpu"), repeat_s, memory_bytes, memory_bytes)
    found = products.filling(room, precision)
    return None if found is None else int(found.size)  # type: ignore[attr-defined]


def fast_gpu(size: int) -> float:
    """700 TFLOP/s once a product takes long against its launch."""
    return 5e-6 + 2 * size**3 / 700e12


def test_it_goes_up_until_the_rate_grows_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, fast_gpu)
    assert chosen("bf16") == 16384
    assert tried == list(products.SIZES)
    tried = on_device(monkeypatch, lambda size: 2 * size**3 / (1e12 if size < 2048 else 0.9e12))
    assert chosen() == 1024  # Of those that are alike the largest.
    assert tried == [256, 512, 1024]


def test_it_does_not_try_what_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, lambda size: 5e-6 + 2 * size**3 / (1e12 * min(1.0, size / 8192)))
    assert chosen(repeat_s=0.1) == 2048
    assert tried[-1] == 2048


def test_a_cost_that_does_not_grow_does_not_hold_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, lambda size: 0.016 + 2 * size**3 / 200e9)
    assert chosen(repeat_s=0.1) == 2048
    assert tried == [256, 512, 1024, 2048]


def test_a_rate_that_falls_leaves_the_size_before(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, lambda size: 2 * size**3 / (3e9 if size < 512 else 1e9))
    assert chosen(repeat_s=10.0) == 256
    assert tried == [256, 512, 1024]


def test_one_slow_try_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    on_device(monkeypatch, lambda size: fast_gpu(size) * (100 if size == 512 else 1))
    assert chosen("bf16") == 16384


def test_operands_stay_within_their_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, fast_gpu)
    assert chosen("fp32", memory_bytes=3 * 4 * 1024**2) == 1024
    assert chosen("bf16", memory_bytes=3 * 4 * 1024**2 - 1) == 1024
    assert max(tried) == 1024


def test_where_memory_runs_out_all_the_same_the_size_before_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = on_device(monkeypatch, fast_gpu, most=2048)
    assert chosen("bf16") == 2048
    assert tried[-1] == 4096


def test_a_precision_that_the_device_lacks_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    on_device(monkeypatch, fast_gpu, most=0)
    assert chosen("bf16") is None
    on_device(monkeypatch, lambda size: 0.3)
    assert chosen("fp16") is None


def test_a_lost_device_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = CONTEXT_LOST

    def lost(_size: int) -> float:
        raise kind("CUDA error: an illegal memory access was encountered")

    on_device(monkeypatch, lost)
    with pytest.raises(kind):
        chosen()
