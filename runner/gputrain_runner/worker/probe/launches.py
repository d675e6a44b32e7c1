"""What one tiny operation costs: asked for by the host, and inside a CUDA graph."""

from __future__ import annotations

from time import perf_counter

import torch
from torch import Tensor

from ..devices import synchronize
from ..execution.cuda_graphs import CudaRecorder
from .rounds import Repeat
from .timing import seconds_of, within_memory

BURST = 500
"""Operations asked for without waiting: fewer than a GPU's queue holds, so that the host never waits."""
BURSTS = 4
IN_GRAPH = 1000
"""Kernels of the graph."""
REPLAYS = 10


def eager(device: torch.device) -> Repeat:
    """Measures the host's microseconds for one operation on a tiny tensor, in bursts of `BURST`."""
    tiny = torch.zeros(1, device=device)

    def repeat() -> float:
        spent_s = 0.0
        for _ in range(BURSTS):
            synchronize(device)
            began = perf_counter()
            for _ in range(BURST):
                tiny.add_(1.0)
            spent_s += perf_counter() - began
        synchronize(device)
        return spent_s / (BURSTS * BURST) * 1e6

    repeat()  # Loads the kernel.
    return repeat


def in_graph(device: torch.device) -> Repeat | None:
    """Measures the microseconds of one of a graph's tiny kernels; None where nothing can be captured."""
    tiny = torch.zeros(1, device=device)

    def work() -> Tensor:
        for _ in range(IN_GRAPH):
            tiny.add_(1.0)
        return tiny

    recorder = CudaRecorder(device)

    def record() -> Repeat:
        recorder.warm_up(work)
        graph, _ = recorder.record(work)
        graph.replay()
        return lambda: seconds_of(graph.replay, device, REPLAYS) / (REPLAYS * IN_GRAPH) * 1e6

    return within_memory(record)
