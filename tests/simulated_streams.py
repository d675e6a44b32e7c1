"""Simulated CUDA streams for a machine without a GPU: what is queued on a stream happens later, in a thread.

Device memory is host memory here. Copies that do not wait, and what a test launches, are done in the order
of their stream after a short and varying delay; events are what they are in CUDA. So a data path that reuses
memory too early, or uses it before a copy is done, gives wrong batches.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

COPY_S, KERNEL_S = 0.0005, 0.003
"""The longest they take; a training thread that does not wait is soon steps ahead of the device."""


class SimulatedDevice:
    """Stands for `torch.device("cuda:0")`."""

    type = "cuda"


class Stream:
    """Does what is queued, one after the other."""

    def __init__(self, _device: object = None) -> None:
        self._work: queue.Queue[Callable[[], object] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)
        self._thread.start()

    def queue(self, work: Callable[[], object]) -> None:
        self._work.put(work)

    def wait_event(self, event: Event) -> None:
        self.queue(event.done.wait)

    def end(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()


class Event:
    """A place in a stream; before it is recorded it is over."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self.done = threading.Event()
        self.done.set()
        self._timed = enable_timing
        self._at = 0.0

    def record(self, stream: Stream) -> None:
        self.done = done = threading.Event()

        def come() -> None:
            self._at = time.perf_counter()
            done.set()

        stream.queue(come)

    def query(self) -> bool:
        return self.done.is_set()

    def synchronize(self) -> None:
        assert self.done.wait(20)

    def elapsed_time(self, end: Event) -> float:
        assert self._timed and end._timed, "no timing was asked for"
        assert self.query() and end.query(), "not ready"
        return (end._at - self._at) * 1e3


class Streams:
    """A GPU's streams, in place of PyTorch's while a test runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.device: Any = SimulatedDevice()
        self.main = Stream()
        self._all = [self.main]
        self._current = threading.local()
        self._random = random.Random(0)
        self._patch(monkeypatch)

    def launch(self, work: Callable[[], object], longest_s: float = KERNEL_S) -> None:
        """Queue a kernel on the current stream."""

        def late() -> None:
            time.sleep(self._random.random() * longest_s)
            work()

        self.current().queue(late)

    def synchronize(self, _device: object = None) -> None:
        event = Event()
        event.record(self.main)
        event.synchronize()

    def current(self, _device: object = None) -> Stream:
        stream: Stream = getattr(self._current, "stream", self.main)
        return stream

    def end(self) -> None:
        for stream in self._all:
            stream.end()

    def _new(self, _device: object = None) -> Stream:
        self._all.append(Stream())
        return self._all[-1]

    def _patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        real_empty, real_like = torch.empty, torch.empty_like
        real_copy, real_to = Tensor.copy_, Tensor.to
        streams = self

        class Within:
            def __init__(self, stream: Stream) -> None:
                self._stream = stream

            def __enter__(self) -> None:
                self._before = streams.current()
                streams._current.stream = self._stream

            def __exit__(self, *_: object) -> None:
                streams._current.stream = self._before

        def copy(into: Tensor, of: Tensor, non_blocking: bool = False) -> Tensor:
            if not non_blocking:
                return real_copy(into, of)
            self.launch(lambda: real_copy(into, of), COPY_S)
            return into

        def to(of: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            if self.device not in args:
                moved: Tensor = real_to(of, *args, **kwargs)
                return moved
            there = real_like(of)
            copy(there, of, non_blocking=True)
            if not kwargs.get("non_blocking"):
                self.synchronize()
            return there

        def empty(*size: Any, pin_memory: bool = False, **kwargs: Any) -> Tensor:
            made: Tensor = real_empty(*size, **kwargs)
            return made

        monkeypatch.setattr(torch, "empty", empty)
        monkeypatch.setattr(torch, "empty_like", lambda of, device: real_like(of))
        monkeypatch.setattr(Tensor, "copy_", copy)
        monkeypatch.setattr(Tensor, "to", to)
        monkeypatch.setattr(Tensor, "record_stream", lambda _of, _stream: None)
        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "Stream", self._new)
        monkeypatch.setattr(torch.cuda, "stream", Within)
        monkeypatch.setattr(torch.cuda, "current_stream", self.current)
        monkeypatch.setattr(torch.cuda, "synchronize", self.synchronize)
