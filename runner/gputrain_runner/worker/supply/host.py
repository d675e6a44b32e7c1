"""`host`: the whole batch is gathered in pageable memory and copied, as Keras and Lasagne did."""

from __future__ import annotations

import torch
from torch import Tensor

from ..data import AnySplit
from ..phases import PhaseClock
from .interface import Supply


class HostSupply(Supply):
    """Gathers on the training thread, copies synchronously."""

    def __init__(self, split: AnySplit, device: torch.device, workers: int) -> None:
        super().__init__(split, device, workers)
        self._copies = device.type != "cpu"

    def next(self, clock: PhaseClock) -> tuple[Tensor, Tensor]:
        """Gather, then copy."""
        inputs, targets = self.split.gather(self._order[self._take()])
        clock.mark()
        if self._copies:
            inputs, targets = inputs.to(self.device), targets.to(self.device)
        clock.mark()
        return inputs, targets
