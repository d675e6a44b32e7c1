"""The probe on a real GPU: against what the card is known to reach, and leaving all as it was."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from gputrain_runner.ceilings import Ceilings, is_wide
from gputrain_runner.worker import changes, devices, probe
from gputrain_runner.worker.execution import precision
from training import losses_of, trainer
from training_presets import small

Note = Callable[[str, float, str], None]

KNOWN = {
    # Card: figure, least, most. Published peaks are the most; the least is what any working card reaches.
    "H200": {
        "bf16": (600e12, 990e12),
        "fp16": (600e12, 990e12),
        "tf32": (280e12, 495e12),
        "fp32": (35e12, 67e12),
        "memory": (3.6e12, 4.9e12),
        "pinned": (35e9, 64e9),
    }
}


def test_everything_a_gpu_has_is_measured(ceilings: Ceilings, note: Note) -> None:
    for name, figure in ceilings.matmul_flops_per_s.items():
        note(f"probe: matrix product {name}", figure.median / 1e12, "TFLOP/s")
        note("  spread of its quartiles", (figure.q75 - figure.q25) / figure.median, "of it")
    singles = {
        "device copy, read plus written": (ceilings.memory_bytes_per_s, 1e9, "GB/s"),
        "host to device, pinned": (ceilings.h2d_pinned_bytes_per_s, 1e9, "GB/s"),
        "host to device, pageable": (ceilings.h2d_pageable_bytes_per_s, 1e9, "GB/s"),
        "device to host, pinned": (ceilings.d2h_pinned_bytes_per_s, 1e9, "GB/s"),
        "device to host, pageable": (ceilings.d2h_pageable_bytes_per_s, 1e9, "GB/s"),
        "eager launch": (ceilings.launch_us, 1.0, "us"),
        "launch in a graph": (ceilings.graph_launch_us, 1.0, "us"),
    }
    for name, (single, unit, word) in singles.items():
        assert single is not None, name
        assert 0 < single.q25 <= single.median <= single.q75
        assert single.repeats >= 3
        note(f"probe: {name}", single.median / unit, word)
    assert ceilings.uuid is not None and ceilings.driver is not None


def test_the_figures_stand_in_their_order(ceilings: Ceilings) -> None:
    rates = {name: figure.median for name, figure in ceilings.matmul_flops_per_s.items()}
    if torch.cuda.get_device_capability(0) >= (8, 0):
        assert rates["fp32"] < rates["tf32"] < rates["bf16"]
    pinned, pageable = ceilings.h2d_pinned_bytes_per_s, ceilings.h2d_pageable_bytes_per_s
    assert pinned is not None and pageable is not None and ceilings.memory_bytes_per_s is not None
    assert 0.9 * pageable.median < pinned.median < ceilings.memory_bytes_per_s.median
    assert ceilings.launch_us is not None and ceilings.graph_launch_us is not None
    assert ceilings.graph_launch_us.median < ceilings.launch_us.median < 100


def test_the_figures_are_those_the_card_is_known_for(ceilings: Ceilings) -> None:
    known = next((bands for card, bands in KNOWN.items() if card in (ceilings.name or "")), None)
    if known is None:
        pytest.skip(f"no published figures are noted here for {ceilings.name}")
    figures = {
        **ceilings.matmul_flops_per_s,
        "memory": ceilings.memory_bytes_per_s,
        "pinned": ceilings.h2d_pinned_bytes_per_s,
    }
    for name, (least, most) in known.items():
        figure = figures[name]
        assert figure is not None
        assert least <= figure.median <= most, (name, figure)


@pytest.mark.parametrize("name", ["bf16", "fp32"])
def test_a_bare_product_shows_the_same_rate(ceilings: Ceilings, name: str, note: Note) -> None:
    size, dtype = (8192, torch.bfloat16) if name == "bf16" else (4096, torch.float32)
    precision.set_flags("fp32")
    left, right = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    rates = []
    for _ in range(10):
        left @ right
        begin.record()
        for _ in range(10):
            left @ right
        end.record()
        end.synchronize()
        rates.append(10 * 2 * size**3 / (begin.elapsed_time(end) / 1e3))
    bare = sorted(rates)[len(rates) // 2]
    ceiling = ceilings.matmul_flops_per_s[name]
    note(f"probe: {name} over a bare product's rate", ceiling.median / bare, "")
    assert ceiling.median > 0.85 * bare
    if not is_wide(ceiling):
        assert ceiling.median < 1.25 * bare  # The bare one does not look for the best size.


@pytest.mark.parametrize("execution", ["eager", "graph"])
def test_training_goes_on_as_if_it_had_not_been(execution: str) -> None:
    def train(probing: bool) -> list[float]:
        of = trainer(small("keras-mnist-mlp"), "cuda:0")
        assert changes.make(of, "execution", execution).error is None or execution == "eager"
        losses = losses_of(of, 20)
        if probing:
            assert probe.measure(devices.available()[0], 0.5) is not None
        losses += losses_of(of, 20)
        of.close()
        return losses

    assert train(probing=True) == pytest.approx(train(probing=False), rel=1e-4)


def test_memory_random_numbers_and_switches_are_as_before() -> None:
    precision.set_flags("tf32")
    try:
        held = torch.zeros(1 << 20, device="cuda")
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
        random, flags = torch.cuda.get_rng_state(0), precision.flags()
        assert probe.measure(devices.available()[0], 0.5) is not None
        # Workspaces of cuBLAS, which training would take as well, may stay.
        allowed = 128 << 20
        assert torch.cuda.memory_allocated() <= before[0] + allowed
        assert torch.cuda.memory_reserved() <= before[1] + 2 * allowed
        assert torch.cuda.max_memory_allocated() <= before[0] + allowed
        assert torch.equal(torch.cuda.get_rng_state(0), random)
        assert precision.flags() == flags
        assert float(held.sum()) == 0.0
    finally:
        precision.set_flags("fp32")


def test_a_full_gpu_is_probed_with_what_is_left() -> None:
    free, _ = torch.cuda.mem_get_info(0)
    hog = torch.empty(int(free * 0.97), dtype=torch.uint8, device="cuda")
    try:
        found = probe.measure(devices.available()[0], 0.5)
        assert found is not None
        assert found.matmul_flops_per_s["fp32"].median > 0
    finally:
        del hog
        torch.cuda.empty_cache()
