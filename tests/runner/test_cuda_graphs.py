"""How graphs are recorded, against a stand-in for PyTorch's CUDA interface that knows its order and traps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

from gputrain_runner.worker.execution import ExecutionError, cuda_graphs
from gputrain_runner.worker.execution.cuda_graphs import CudaRecorder

GPU = torch.device("cuda:1")


class Cuda:
    """Remembers what is asked of it, in order, and which stream is current."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.current = "main"
        self.sync_mode = 0
        self.end_of_capture: Exception | None = None

    def stream_named(self, name: str) -> Any:
        return Stream(self, name)

    @contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        before, self.current = self.current, stream.name
        try:
            yield
        finally:
            self.current = before

    @contextmanager
    def device(self, device: torch.device) -> Iterator[None]:
        self.said.append(f"device {device}")
        yield

    def graph(self, graph: Any, pool: object, stream: Any, capture_error_mode: str) -> Any:
        return Capture(self, pool, stream, capture_error_mode)

    def set_sync_debug_mode(self, mode: int | str) -> None:
        self.sync_mode = {"default": 0, "warn": 1, "error": 2}[mode] if isinstance(mode, str) else mode

    def work(self) -> Tensor:
        self.said.append(f"work on {self.current}" + (", watched" if self.sync_mode == 2 else ""))
        return torch.zeros(())


class Stream:
    def __init__(self, cuda: Cuda, name: str) -> None:
        self.name = name
        self._cuda = cuda

    def wait_stream(self, other: Any) -> None:
        self._cuda.said.append(f"{self.name} waits for {other.name}")


class Capture:
    """As `torch.cuda.graph` of PyTorch 2.13: where ending it fails, its stream stays the current one."""

    def __init__(self, cuda: Cuda, pool: object, stream: Any, mode: str) -> None:
        self._cuda, self._pool, self._stream, self._mode = cuda, pool, stream, mode

    def __enter__(self) -> None:
        self._before, self._cuda.current = self._cuda.current, self._stream.name
        self._cuda.said.append(f"capture into {self._pool}, {self._mode}")

    def __exit__(self, *_: object) -> None:
        if self._cuda.end_of_capture is not None:
            raise self._cuda.end_of_capture
        self._cuda.current = self._before


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cuda]:
    made = Cuda()
    cuda_graphs._stream.cache_clear()
    for name, stand_in in {
        "Stream": lambda _: made.stream_named("side"),
        "current_stream": lambda _: made.stream_named(made.current),
        "stream": made.stream,
        "device": made.device,
        "graph": made.graph,
        "graph_pool_handle": lambda: "the pool",
        "CUDAGraph": object,
        "get_sync_debug_mode": lambda: made.sync_mode,
        "set_sync_debug_mode": made.set_sync_debug_mode,
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    yield made
    cuda_graphs._stream.cache_clear()


def test_work_is_practised_on_the_stream_that_it_is_recorded_on(cuda: Cuda) -> None:
    recorder = CudaRecorder(GPU)
    recorder.warm_up(cuda.work)
    _, result = recorder.record(cuda.work)
    assert result.item() == 0.0
    assert cuda.said == [
        "device cuda:1",
        "side waits for main",
        "work on side",
        "work on side",
        "work on side, watched",
        "main waits for side",
        "device cuda:1",
        "side waits for main",
        "capture into the pool, thread_local",
        "work on side",
        "main waits for side",
    ]
    assert (cuda.current, cuda.sync_mode) == ("main", 0)


def test_a_wait_is_found_before_anything_is_recorded(cuda: Cuda) -> None:
    def waiting() -> Tensor:
        if cuda.sync_mode == 2:
            raise RuntimeError("called a synchronizing CUDA operation (Triggered internally at ...)")
        return cuda.work()

    with pytest.raises(ExecutionError, match=r"^execution graph: this step waits for the device, as \.item"):
        CudaRecorder(GPU).warm_up(waiting)
    assert (cuda.current, cuda.sync_mode) == ("main", 0)
    assert cuda.said[-1] == "main waits for side"


@pytest.mark.parametrize("during", ["work", "end"])
def test_a_capture_that_fails_is_one_line_and_leaves_the_stream(cuda: Cuda, during: str) -> None:
    text = "CUDA error: operation failed due to a previous error during capture\nCUDA kernel errors might"
    cuda.end_of_capture = RuntimeError(text)

    def work() -> Tensor:
        if during == "work":
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        return cuda.work()

    with pytest.raises(ExecutionError) as raised:
        CudaRecorder(GPU).record(work)
    why = "operation failed due to a previous error during capture"
    assert str(raised.value) == f"execution graph: this step cannot be captured: CUDA error: {why}"
    assert cuda.current == "main"


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("CUDA out of memory while capturing"), RuntimeError("an illegal memory access")],
)
def test_what_is_not_about_capturing_stays_what_it_is(cuda: Cuda, error: RuntimeError) -> None:
    def work() -> Tensor:
        raise error

    with pytest.raises(type(error)) as raised:
        CudaRecorder(GPU).record(work)
    assert raised.value is error
    assert cuda.current == "main"
