"""`pinned`: gathered into reused pinned buffers, from which the GPU copies by itself."""

from __future__ import annotations

import torch
from torch import Tensor

from ..data import AnySplit
from ..phases import PhaseClock
from .interface import Supply, SupplyError
from .memory import Buffers

BUFFERS = 3
"""One is filled while the copy out of another waits its turn behind the step that the GPU is at; with
the third the host is a whole step ahead."""


class PinnedSupply(Supply):
    """Gathers on the training thread; the copy is queued on the stream that computes."""

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        if device.type != "cuda":
            raise SupplyError("data path pinned needs a CUDA GPU: pinned memory is for copies to one")
        super().__init__(split, device, workers)
        self._ring: list[tuple[Buffers, torch.cuda.Event]] = []
        self._room = 0
        self._at = 0

    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """Gather, then queue the copy; the next buffer is waited for here, for it is a copy that holds it."""
        buffers, copied = self._ring[self._at]
        inputs, targets = buffers.fill(self.split, self._order[self._take()])
        clock.mark()
        inputs = inputs.to(self.device, non_blocking=True)
        targets = targets.to(self.device, non_blocking=True)
        copied.record(torch.cuda.current_stream(self.device))
        self._at = (self._at + 1) % BUFFERS
        self._ring[self._at][1].synchronize()
        clock.mark()
        return inputs, targets

    def close(self) -> None:
        """Let go of the buffers; PyTorch keeps their memory until the copies are done."""
        self._ring.clear()
        self._room = 0

    def _prepare(self) -> None:
        if self._batch_size != self._room:
            self.close()
            for _ in range(BUFFERS):
                self._ring.append((Buffers(self.split, self._batch_size, pinned=True), torch.cuda.Event()))
            self._room = self._batch_size
            self._at = 0
