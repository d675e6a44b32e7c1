"""`graph`: the whole step recorded once as a CUDA graph and launched with one call.

The host then launches one thing where eager execution launches hundreds of kernels. A graph is of one
batch size: the first step after that was set runs eagerly, then the graph is captured and serves from the
next step on. The batch that an epoch ends with, if it is smaller, runs eagerly.

Capturing leaves no trace in weights, statistics, optimizer or random state: the same losses come out as
from eager execution. What the device does inside a graph cannot be told apart by events around it, so the
whole of it counts as `forward`, and the device's times of `backward` and `optimizer` are not known.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import torch
from torch import Tensor

from ...settings import Settings
from ..phases import PhaseClock
from .cuda_graphs import CudaRecorder, Recorder, Replayable
from .eager import EagerExecution
from .interface import Execution, ExecutionError, Parts
from .practice import practice
from .step_counters import count_on_device, count_on_host, counted_on_host

MOST_GRAPHS = 4
"""Captured sizes that are kept: each holds memory."""


@dataclass(frozen=True, slots=True)
class _Captured:
    """A step of one batch size.

    Attributes:
        inputs: where it reads the batch from; targets likewise.
        loss: where it leaves the loss.
    """

    graph: Replayable
    inputs: Tensor
    targets: Tensor
    loss: Tensor


class GraphExecution(Execution):
    """Replays steps; those that there is no graph of run eagerly."""

    PREPARED = "captured"

    def __init__(self, parts: Parts, settings: Settings, recorder: Recorder | None = None) -> None:
        """Take over the optimizer, until `close`; `recorder` is what records, CUDA graphs by default."""
        super().__init__(parts, settings)
        self._device = torch.device(settings.device)
        self._recorder = CudaRecorder(self._device) if recorder is None else recorder
        # Casts kept from one pass to the next would be of the weights at the time of recording.
        self._eager = EagerExecution(parts, settings, cache_casts=False)
        self._trains = settings.passes == "training"
        self._captured: dict[int, _Captured] = {}
        self._expected = settings.batch_size
        self._prepared_s = 0.0
        if self._trains:
            count_on_device(parts.optimizer)

    def run(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        """One step."""
        captured = self._captured.get(len(inputs))
        if captured is None:
            return self._run_eagerly(inputs, targets, clock)
        captured.inputs.copy_(inputs, non_blocking=True)
        captured.targets.copy_(targets, non_blocking=True)
        captured.graph.replay()
        clock.mark_whole()
        return captured.loss

    def expect(self, batch_size: int) -> None:
        """Capture batches of that size."""
        self._expected = batch_size

    def preparation_ms(self) -> float | None:
        """Time that capturing took since this was last asked."""
        prepared_s, self._prepared_s = self._prepared_s, 0.0
        return prepared_s * 1e3 if prepared_s else None

    def close(self) -> None:
        """Let go of the graphs; the optimizer counts on the host again."""
        try:
            self._recorder.close()
        finally:
            for captured in self._captured.values():
                captured.graph.reset()
            self._captured.clear()
            count_on_host(self.parts.optimizer)

    def _run_eagerly(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        """A step of a size that is not captured; after it the size that is expected is.

        Before a capture there must be a step: an optimizer's first is another than those that follow, it
        makes the state that they go on from.
        """
        loss = self._eager.run(inputs, targets, clock)
        if self._expected not in self._captured:
            began = perf_counter()
            self._capture(_repeated(inputs, self._expected), _repeated(targets, self._expected))
            self._prepared_s += perf_counter() - began
        return loss

    def _capture(self, inputs: Tensor, targets: Tensor) -> None:
        """Capture the step on batches like this one, whose memory it reads from now on."""
        if self._trains:
            self._check_optimizer()
        if len(self._captured) >= MOST_GRAPHS:
            self._recorder.close()
            self._captured.pop(next(iter(self._captured))).graph.reset()
        step = partial(self._step, inputs, targets)
        with practice(self.parts, self._device) if self._trains else nullcontext():
            self._recorder.warm_up(step)
            graph, loss = self._recorder.record(step)
        self._captured[len(inputs)] = _Captured(graph, inputs, targets, loss)

    def _step(self, inputs: Tensor, targets: Tensor) -> Tensor:
        if not self._trains:
            self.parts.model.eval()
            with torch.no_grad():
                return self._eager.forward(inputs, targets)
        loss = self._eager.forward(inputs, targets)
        loss.backward(self.parts.loss_weight)
        self.parts.optimizer.step()
        # Inside the recording, so that the next graph may use the gradients' memory.
        self.parts.optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def _check_optimizer(self) -> None:
        name = counted_on_host(self.parts.optimizer)
        if name is not None:
            kind = type(self.parts.optimizer).__name__
            reason = f"{kind} keeps {name!r} on the host, and a graph would repeat one step with it"
            raise ExecutionError(f"execution graph: {reason}")


def _repeated(batch: Tensor, samples: int) -> Tensor:
    """A batch of so many samples, those of `batch` in turn, in memory of its own."""
    return batch[torch.arange(samples, device=batch.device) % len(batch)]
