"""The probe on this machine's CPU, in this process: what it finds, and that it leaves all as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

from gputrain_runner.ceilings import Ceilings, Figure, in_words
from gputrain_runner.machine import host_facts
from gputrain_runner.worker import devices, probe
from gputrain_runner.worker.execution import precision
from gputrain_runner.worker.probe import cpu

SECONDS = 0.05
CPU = devices.available()[-1]


@pytest.fixture(scope="module")
def found() -> Ceilings:
    measured = probe.measure(CPU, SECONDS)
    assert measured is not None
    return measured


def figures(ceilings: Ceilings) -> list[Figure]:
    singles = [ceilings.memory_bytes_per_s, ceilings.launch_us]
    return [
        *ceilings.matmul_flops_per_s.values(),
        *ceilings.matmul_threads_flops_per_s.values(),
        *(figure for figure in singles if figure is not None),
    ]


def test_it_finds_what_has_a_meaning_on_a_cpu(found: Ceilings) -> None:
    assert (found.device, found.name, found.uuid, found.driver) == ("cpu", CPU.name, None, None)
    assert found.torch == torch.__version__
    assert "fp32" in found.matmul_flops_per_s and "tf32" not in found.matmul_flops_per_s
    assert list(found.matmul_threads_flops_per_s) == [
        str(count) for count in cpu.thread_counts(host_facts().cores or 1)
    ]
    # All threads: the same measurement under both names.
    last = list(found.matmul_threads_flops_per_s.values())[-1]
    assert found.matmul_flops_per_s["fp32"] == last
    assert found.memory_bytes_per_s is not None and found.launch_us is not None
    on_gpus = (found.h2d_pinned_bytes_per_s, found.d2h_pageable_bytes_per_s, found.graph_launch_us)
    assert on_gpus == (None, None, None)


def test_every_figure_is_a_median_between_its_quartiles(found: Ceilings) -> None:
    assert len(figures(found)) >= 4
    for figure in figures(found):
        assert 0 < figure.q25 <= figure.median <= figure.q75
        assert figure.repeats >= 3
    assert in_words(found).startswith("fp32 ")


def test_it_leaves_threads_random_numbers_and_gradients_as_they_were() -> None:
    threads, grad = torch.get_num_threads(), torch.is_grad_enabled()
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    flags = precision.flags()
    assert probe.measure(CPU, SECONDS) is not None
    assert torch.equal(torch.rand(4), expected)
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (threads, grad)
    assert precision.flags() == flags


def test_it_can_be_stopped() -> None:
    threads = torch.get_num_threads()
    assert probe.measure(CPU, 600.0, stopped=lambda: True) is None
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(
    ("cores", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (64, [1, 2, 4, 8, 16, 32, 64])]
)
def test_threads_double_up_to_the_cores(cores: int, counts: list[int]) -> None:
    assert cpu.thread_counts(cores) == counts


def test_caches_are_counted_once_each(tmp_path: Path) -> None:
    assert cpu.last_level_cache_bytes(tmp_path) == 0
    for number, shared_by in enumerate(("0-1", "0-1", "2-3", "2-3")):
        index = tmp_path / f"cpu{number}" / "cache" / "index3"
        index.mkdir(parents=True)
        (index / "size").write_text("32768K\n")
        (index / "shared_cpu_list").write_text(f"{shared_by}\n")
    (tmp_path / "cpu3" / "cache" / "index3" / "size").write_text("?")
    assert cpu.last_level_cache_bytes(tmp_path) == 2 * (32 << 20)


SWITCHES = """
    import itertools, os, sys, warnings
    import torch
    from gputrain_runner.worker.execution import precision

    warnings.simplefilter("ignore")
    backends = torch.backends
    if not hasattr(backends.mkldnn, "matmul"):
        sys.exit()
    read = {
        "matmul": lambda: backends.cuda.matmul.allow_tf32,
        "cudnn": lambda: backends.cudnn.allow_tf32,
        "precision": torch.get_float32_matmul_precision,
        "newer": lambda: backends.cuda.matmul.fp32_precision,
        "newer conv": lambda: backends.cudnn.conv.fp32_precision,
        "newer host": lambda: backends.mkldnn.matmul.fp32_precision,
        "newer all": lambda: backends.fp32_precision,
    }
    ways = {
        "nothing": lambda: None,
        "ours, tf32": lambda: precision.set_flags("tf32"),
        "ours, fp32": lambda: precision.set_flags("fp32"),
        "high": lambda: torch.set_float32_matmul_precision("high"),
        "medium": lambda: torch.set_float32_matmul_precision("medium"),
        "newer, tf32": lambda: setattr(backends.cuda.matmul, "fp32_precision", "tf32"),
        "newer, ieee": lambda: setattr(backends.cuda.matmul, "fp32_precision", "ieee"),
        "newer, conv": lambda: setattr(backends.cudnn.conv, "fp32_precision", "tf32"),
        "newer, all": lambda: setattr(backends, "fp32_precision", "tf32"),
    }

    def state():
        found = {}
        for name, reader in read.items():
            try:
                found[name] = reader()
            except RuntimeError:
                found[name] = "refuses"
        return found

    for first, second in itertools.product(ways, ways):
        if os.fork() == 0:  # Each in a PyTorch where nothing was set before.
            ways[first]()
            ways[second]()
            before = state()
            with precision.product_switches_kept():
                precision.allow_tf32_products(True)
                inside = backends.cuda.matmul.allow_tf32
                precision.allow_tf32_products(False)
            if state() != before or inside is not True:
                print(first, "|", second, "|", before, "|", state(), flush=True)
            os._exit(0)
        os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_tf32_switches_are_put_back_whoever_set_them_and_how() -> None:
    asked = [sys.executable, "-c", textwrap.dedent(SWITCHES)]
    result = subprocess.run(asked, capture_output=True, text=True, timeout=120, check=False)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
