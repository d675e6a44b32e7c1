"""Recording work into CUDA graphs: the part that knows PyTorch's interface to them, and its traps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Protocol

import torch
from torch import Tensor

from .interface import ExecutionError

Work = Callable[[], Tensor]

WARM_UP_RUNS = 3
"""Libraries choose algorithms and take workspaces in the first runs, which must not be recorded."""


class Replayable(Protocol):
    """Recorded work."""

    def replay(self) -> None:
        """Do it once more, on the same memory."""

    def reset(self) -> None:
        """Let go of it."""


class Recorder(Protocol):
    """What records work."""

    def warm_up(self, work: Work) -> None:
        """Do the work for real, as often as it takes before it can be recorded."""

    def record(self, work: Work) -> tuple[Replayable, Tensor]:
        """Record the work: what it computes is done when it is replayed, what Python does is done now.

        The tensor that the work returns is where every replay leaves its result.
        """

    def close(self) -> None:
        """Wait until nothing of what was recorded is under way."""


class CudaRecorder:
    """Records on a stream of its own; all graphs take their memory from one pool.

    So graphs must not run at the same time, and what one leaves in the pool is lost with the next.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = _stream(device)
        self._pool = torch.cuda.graph_pool_handle()

    def warm_up(self, work: Work) -> None:
        """Do the work `WARM_UP_RUNS` times; ExecutionError where it waits for the device."""
        with self._on_stream():
            for _ in range(WARM_UP_RUNS - 1):
                work()
            # A wait inside a recording would spoil it and the memory pool; here it is only found.
            with _waiting_is_an_error():
                work()

    def record(self, work: Work) -> tuple[Replayable, Tensor]:
        """Record the work; ExecutionError where that cannot be done."""
        graph = torch.cuda.CUDAGraph()
        try:
            with self._on_stream():
                # Other threads, which prepare batches, may go on calling the driver.
                recording = torch.cuda.graph(
                    graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
                )
                with recording:
                    result = work()
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            if "captur" not in str(error):
                raise
            raise ExecutionError(f"execution graph: this step cannot be captured: {_first(error)}") from None
        return graph, result

    def close(self) -> None:
        """Wait until nothing of what was recorded is under way."""
        torch.cuda.synchronize(self._device)

    @contextmanager
    def _on_stream(self) -> Iterator[None]:
        """On the recorder's stream, after the current one and before what comes on it later.

        Also where a recording fails: `torch.cuda.graph` then leaves its stream the current one.
        """
        with torch.cuda.device(self._device):
            before = torch.cuda.current_stream(self._device)
            self._stream.wait_stream(before)
            try:
                with torch.cuda.stream(self._stream):
                    yield
            finally:
                before.wait_stream(self._stream)


@cache
def _stream(device: torch.device) -> torch.cuda.Stream:
    """One for all recorders: cuBLAS keeps tens of megabytes for each stream that it was called on."""
    return torch.cuda.Stream(device)


@contextmanager
def _waiting_is_an_error() -> Iterator[None]:
    mode = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    except RuntimeError as error:
        if "synchronizing CUDA operation" not in str(error):
            raise
        wait = "this step waits for the device, as .item() does, and a graph cannot"
        raise ExecutionError(f"execution graph: {wait}") from None
    finally:
        torch.cuda.set_sync_debug_mode(mode)


def _first(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
