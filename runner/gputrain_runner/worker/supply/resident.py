"""`resident`: the whole data set lies on the device and batches are gathered there."""

from __future__ import annotations

from contextlib import suppress

import torch
from torch import Tensor

from ..data import AnySplit, Split
from ..phases import PhaseClock
from .interface import Supply, SupplyError


class ResidentSupply(Supply):
    """Copies the data once and the order once an epoch; nothing is left to copy in a step.

    On a CPU it is what `host` is. Where the data do not fit on the device, PyTorch's out-of-memory error
    says so.
    """

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        super().__init__(split, device, workers)
        if not isinstance(split, Split):
            raise SupplyError(
                "data path resident needs data in memory; a folder of images is read file by file"
            )
        self._on_cuda = device.type == "cuda"
        self._there = Split(split.inputs.to(device), split.targets.to(device))
        self._order_there = self._order
        self._copied_order = self._order

    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """Gather on the device, which is its share of `data`."""
        chosen = self._order_there[self._take()]
        if self._on_cuda and clock.instrumented:
            batch = self._gather_timed(chosen, clock)
        else:
            batch = self._there.gather(chosen)
        clock.mark()
        clock.mark()
        return batch

    def _gather_timed(self, chosen: Tensor, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        stream = torch.cuda.current_stream(self.device)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(stream)
        batch = self._there.gather(chosen)
        end.record(stream)
        clock.span("data", begin, end)
        return batch

    def _prepare(self) -> None:
        if self._order is not self._copied_order:
            self._order_there = self._copied(self._order)
            self._copied_order = self._order

    def _copied(self, order: Tensor) -> Tensor:
        """On the device. Not from pageable memory: the host would wait for every step that is queued."""
        if self._on_cuda:
            with suppress(RuntimeError):  # It gives no pinned memory.
                return order.pin_memory().to(self.device, non_blocking=True)
        return order.to(self.device)
