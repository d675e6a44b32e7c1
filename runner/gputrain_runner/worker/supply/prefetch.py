"""`prefetch`: a thread gathers the next batches while this one is trained on, a stream of its own copies."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import torch
from torch import Tensor

from ..data import AnySplit
from ..phases import PhaseClock
from .interface import Supply
from .memory import Buffers

BATCHES = 3
"""Under way at a time: one that is trained on, one that is ready, one that is gathered."""
END_S = 0.8
"""How long to wait for the thread's end: it looks up every few megabytes, but a file may be slow."""


class PrefetchSupply(Supply):
    """Batches gathered ahead, and on a GPU copied ahead, in memory that is used again and again."""

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        super().__init__(split, device, workers)
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._slots: list[_Slot] = []
        self._room = 0
        self._ahead: _Ahead | None = None
        self._in_use: _Slot | None = None

    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """Wait for the thread, then for the copy."""
        ahead = self._ahead
        assert ahead is not None, "it was not begun"
        self._give_back(ahead)
        self._take()
        slot = ahead.ready.get()
        if isinstance(slot, Exception):
            self._stop()
            self._batch_size = 0  # Wherever it is begun, it is not here.
            raise slot
        self._in_use = slot
        clock.mark()
        batch = slot.hand_over(clock)
        clock.mark()
        return batch

    def close(self) -> None:
        """End the thread and let go of the memory."""
        self._stop()
        self._slots, self._room, self._in_use = [], 0, None

    def _prepare(self) -> None:
        ended = self._stop()
        if not ended or self._room != self._batch_size:
            # The old go before the new ones come: a GPU may not hold both. A thread that hangs keeps its own.
            self._slots, self._in_use = [], None
            self._slots = [self._new_slot() for _ in range(BATCHES)]
            self._room = self._batch_size
        elif self._in_use is not None:
            self._in_use.release()
            self._in_use = None
        self._ahead = _Ahead(self.split, self._order[self._taken :], self._batch_size, self._slots)

    def _give_back(self, ahead: _Ahead) -> None:
        if self._in_use is not None:
            self._in_use.release()
            ahead.free.put(self._in_use)
            self._in_use = None

    def _stop(self) -> bool:
        """Whether the thread has ended, as it should."""
        ahead, self._ahead = self._ahead, None
        return ahead is None or ahead.stop()

    def _new_slot(self) -> _Slot:
        if self._stream is None:
            return _Slot(self.split, self._batch_size)
        return _GpuSlot(self.split, self._batch_size, self.device, self._stream)


class _Ahead:
    """The thread's work from one place in the order to its end."""

    def __init__(self, split: AnySplit, order: Tensor, batch_size: int, slots: list[_Slot]) -> None:
        self.free: SimpleQueue[_Slot | None] = SimpleQueue()
        self.ready: SimpleQueue[_Slot | Exception] = SimpleQueue()
        """The batches in their order; last an exception, where there was one."""
        self._stopped = False
        for slot in slots:
            self.free.put(slot)
        self._thread = threading.Thread(
            target=self._gather, args=(split, order, batch_size), name="prefetch", daemon=True
        )
        self._thread.start()

    def stop(self) -> bool:
        """End the thread; whether it has ended in time."""
        self._stopped = True
        self.free.put(None)
        self._thread.join(END_S)
        return not self._thread.is_alive()

    def _gather(self, split: AnySplit, order: Tensor, batch_size: int) -> None:
        for first in range(0, len(order), batch_size):
            slot = self.free.get()
            if slot is None or self._stopped:
                return
            try:
                slot.fill(split, order[first : first + batch_size], self.stopped)
            except Exception as error:
                self.ready.put(error)
                return
            self.ready.put(slot)

    def stopped(self) -> bool:
        """Whether nobody wants more."""
        return self._stopped


class _Slot:
    """Room for a batch under way; on a CPU it is used where it was gathered."""

    def __init__(self, split: AnySplit, batch_size: int, pinned: bool = False) -> None:
        self._buffers = Buffers(split, batch_size, pinned)
        self._batch: tuple[Tensor, Tensor] | None = None

    def fill(self, split: AnySplit, chosen: Tensor, stopped: Callable[[], bool]) -> None:
        """On the thread: gather."""
        self._batch = self._buffers.fill(split, chosen, stopped)

    def hand_over(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """On the training thread: the batch, to be used on the current stream."""
        assert self._batch is not None
        return self._batch

    def release(self) -> None:
        """On the training thread: whatever uses the batch has been launched."""


class _GpuSlot(_Slot):
    """Pinned memory, and as much on the device.

    Three things happen to it in turn, on three lines of time: the thread gathers, the side stream
    copies, the current stream computes; each waits for the one before by an event.
    """

    def __init__(
        self, split: AnySplit, batch_size: int, device: torch.device, stream: torch.cuda.Stream
    ) -> None:
        super().__init__(split, batch_size, pinned=True)
        self._device = device
        self._stream = stream
        host = self._buffers
        self._inputs, self._targets = (
            torch.empty_like(here, device=device) for here in (host.inputs, host.targets)
        )
        for there in (self._inputs, self._targets):
            there.record_stream(stream)  # So that, once freed, it is not used anew during a copy.
        self._used = torch.cuda.Event()
        self._used.record(torch.cuda.current_stream(device))  # What used this memory before, too.
        self._span: tuple[torch.cuda.Event, torch.cuda.Event] | None = None

    def fill(self, split: AnySplit, chosen: Tensor, stopped: Callable[[], bool]) -> None:
        """On the thread: gather and queue the copy."""
        # A copy that nobody wanted may be under way yet; the one queued behind it sets its errors right.
        inputs, targets = self._buffers.fill(split, chosen, stopped)
        if stopped():
            return
        # New events each time: the clock reads them steps later.
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True, blocking=True)
        count = len(chosen)
        with torch.cuda.stream(self._stream):
            self._stream.wait_event(self._used)
            begin.record(self._stream)
            there = self._inputs[:count], self._targets[:count]
            there[0].copy_(inputs, non_blocking=True)
            there[1].copy_(targets, non_blocking=True)
            end.record(self._stream)
        self._batch, self._span = there, (begin, end)

    def hand_over(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """On the training thread: the batch, for the current stream once it has been copied.

        The host waits as well, until the device is two steps behind. It would have to in any case, but for
        the thread, which would look as if gathering took so long.
        """
        assert self._span is not None
        torch.cuda.current_stream(self._device).wait_event(self._span[1])
        clock.span("h2d", *self._span)
        self._span[1].synchronize()
        return super().hand_over(clock)

    def release(self) -> None:
        """On the training thread: the next copy waits for what the current stream has been given."""
        self._used.record(torch.cuda.current_stream(self._device))
