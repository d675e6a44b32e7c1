"""`eager`: every operation is dispatched by Python as it comes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ...settings import Settings
from ..phases import PhaseClock
from . import precision
from .interface import Execution, Parts
from .memory_format import MEMORY_FORMATS


class EagerExecution(Execution):
    """Plain PyTorch."""

    def __init__(self, parts: Parts, settings: Settings, cache_casts: bool = True) -> None:
        super().__init__(parts, settings)
        self._scaler = precision.scaler(settings)
        self._layout = MEMORY_FORMATS.get(settings.memory_format or "")
        self._casts = settings.precision in precision.AUTOCAST
        self._autocast = precision.autocast(settings, cache_casts)

    def run(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        """One step."""
        if self.settings.passes == "forward":
            return self._infer(inputs, targets, clock)
        loss = self.forward(inputs, targets)
        clock.mark()
        parts, scaler = self.parts, self._scaler
        if scaler is None:
            loss.backward(parts.loss_weight)
            clock.mark()
            parts.optimizer.step()
        else:
            scaler.scale(loss).backward(parts.loss_weight)
            clock.mark()
            scaler.step(parts.optimizer)
            scaler.update()
        parts.optimizer.zero_grad(set_to_none=True)
        clock.mark()
        return loss.detach()

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The loss, in the precision asked for."""
        if self._layout is not None:
            inputs = inputs.contiguous(memory_format=self._layout)
        if not self._casts:
            return self._measure(inputs, targets)
        with self._autocast:
            return self._measure(inputs, targets)

    def state(self) -> dict[str, Any]:
        """The loss scale."""
        return {} if self._scaler is None else {"scaler": self._scaler.state_dict()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on with that loss scale."""
        if self._scaler is not None and "scaler" in state:
            self._scaler.load_state_dict(state["scaler"])

    def _measure(self, inputs: Tensor, targets: Tensor) -> Tensor:
        return self.parts.measure_loss(self.parts.model(inputs), targets)

    def _infer(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        model = self.parts.model
        if model.training:
            model.eval()
        with torch.no_grad():
            loss = self.forward(inputs, targets)
        clock.mark()
        clock.mark()
        clock.mark()
        return loss
