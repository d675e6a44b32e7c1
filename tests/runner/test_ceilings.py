"""What is said of ceilings: shares of them, their spread, their words."""

from __future__ import annotations

import pytest
from msgspec import structs

from gputrain_runner.ceilings import Ceilings, Figure, in_words, is_wide, share_of_ceiling


def even(median: float, spread: float = 0.0) -> Figure:
    half = median * spread / 2
    return Figure(median=median, q25=median - half, q75=median + half, repeats=9)


CARD = Ceilings(
    device="cuda:0",
    measured_at="2026-11-30T10:00:00+00:00",
    matmul_flops_per_s={"fp32": even(51.2e12), "bf16": even(790e12)},
    memory_bytes_per_s=even(4.31e12),
    h2d_pinned_bytes_per_s=even(55e9),
    h2d_pageable_bytes_per_s=even(8.4e9),
    launch_us=even(3.04),
    graph_launch_us=even(1.234),
)


def test_a_share_is_of_the_training_precisions_ceiling() -> None:
    assert share_of_ceiling(395e12, "bf16", CARD) == pytest.approx(0.5)
    assert share_of_ceiling(25.6e12, "fp32", CARD) == pytest.approx(0.5)


def test_a_share_may_exceed_one() -> None:
    assert share_of_ceiling(102.4e12, "fp32", CARD) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("flops", "precision", "card"), [(None, "bf16", CARD), (1e12, "tf32", CARD), (1e12, "fp32", None)]
)
def test_there_is_no_share_of_what_was_not_measured(
    flops: float | None, precision: str, card: Ceilings | None
) -> None:
    assert share_of_ceiling(flops, precision, card) is None


def test_a_spread_is_wide_beyond_a_tenth() -> None:
    assert not is_wide(even(100.0, 0.09))
    assert is_wide(even(100.0, 0.11))


def test_ceilings_in_words() -> None:
    assert in_words(CARD) == (
        "fp32 51.2 TFLOP/s, bf16 790 TFLOP/s, memory 4.31 TB/s, host to device pinned 55.0 GB/s, "
        "pageable 8.40 GB/s, launch 3.0 µs, in a graph 1.23 µs"
    )
    cpu = Ceilings(device="cpu", measured_at="x", memory_bytes_per_s=even(99.96e9), launch_us=even(2.5))
    assert in_words(cpu) == "memory 100 GB/s, dispatch 2.5 µs"
    noisy = structs.replace(cpu, noisy=True, matmul_flops_per_s={"fp32": even(1e12)})
    assert in_words(noisy) == "fp32 about 1.00 TFLOP/s, memory about 100 GB/s, dispatch about 2.5 µs"
    assert in_words(Ceilings(device="cpu", measured_at="x")) == "nothing could be measured"
