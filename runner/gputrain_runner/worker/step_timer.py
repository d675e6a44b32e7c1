"""A phase clock that keeps every step's own times, for points of a sweep."""

from __future__ import annotations

import torch

from .devices import synchronize
from .phases import PhaseClock

_HOST_MARKS = {"forward": (3, 4), "backward": (4, 5)}
"""Of a step's marks, those at a phase's two ends."""


class StepTimer(PhaseClock):
    """Times every step.

    On a CUDA device a step lasts from the end of the one before to its own end *there*: the host, which
    only queues the work, may be many steps ahead.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__(device, cost_s=0.0)
        self._last: torch.cuda.Event | None = None
        self._steps: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []
        self._whole = False

    @property
    def launched_whole(self) -> bool:
        """Whether forward, backward and optimizer of a timed step were launched as one."""
        return self._whole

    def forget(self) -> None:
        """Begin anew; what went before was warming up."""
        synchronize(self._device)
        self._collect_events()
        self._done, self._device_ms, self._steps = [], [], []
        self._whole = False
        self.active_s = 0.0
        self.go_on()

    def go_on(self) -> None:
        """Stepping was interrupted by something that is not part of a step; it goes on now."""
        super().go_on()
        if self._on_cuda:
            self._last = self._now_on_device()

    def mark_whole(self) -> None:
        """Forward, backward and optimizer end as one."""
        self._whole = True
        super().mark_whole()

    def end(self) -> None:
        """The step ends."""
        super().end()
        if self._on_cuda:
            before, self._last = self._last, self._now_on_device()
            if before is not None:
                self._steps.append((before, self._last))

    def forward_ms(self) -> list[float]:
        """Forward with the loss, of each step: between the device's events, on a CPU of the host."""
        return self._between("forward")

    def forward_backward_ms(self) -> list[float]:
        """Forward and backward; with the optimizer where all was launched as one."""
        return self._between("forward", "backward")

    def step_ms(self) -> list[float]:
        """The whole step, from the end of the one before."""
        if self._on_cuda:
            synchronize(self._device)
            return [before.elapsed_time(end) for before, end in self._steps]
        return [(marks[-1] - marks[0]) * 1e3 for marks in self._done]

    def _between(self, *phases: str) -> list[float]:
        if self._on_cuda:
            synchronize(self._device)
            self._collect_events()
            return [sum(step.get(phase, 0.0) for phase in phases) for step in self._device_ms]
        first, last = _HOST_MARKS[phases[0]][0], _HOST_MARKS[phases[-1]][1]
        return [(marks[last] - marks[first]) * 1e3 for marks in self._done]

    def _now_on_device(self) -> torch.cuda.Event:
        event = torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        return event
