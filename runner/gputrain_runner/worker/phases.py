"""The phase clock: where the time of a step goes, on the host and on the device.

On the host each boundary between phases is read from the monotonic clock. On a CUDA device an event
is recorded at each boundary as well and read back only once it is done: nothing on the hot path waits
for the device. Where steps are short against the clock's own cost, only every k-th is instrumented.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise
from time import perf_counter, time_ns

import torch

from ..timeline import PHASES, Phase, StepMs

DEVICE_PHASES = ("h2d", "forward", "backward", "optimizer")
"""Phases that have work on the device between their boundaries; `data` is assembled on the host."""
BEHIND_S = 2e-4
"""A wait for the device beyond what asking it costs: it was behind the host, and at its steps until then."""
MAX_COST = 0.001
"""The share of a step's time that the clock may cost."""

_Marks = list[float]
_Spans = dict[str, tuple[torch.cuda.Event, torch.cuda.Event]]


class PhaseClock:
    """Times the steps of one device.

    A step is `begin()`, one `mark()` at the end of each of the five working phases, `end()`.
    """

    def __init__(self, device: torch.device, cost_s: float | None = None) -> None:
        """Of one device; `cost_s` is what timing a step costs, None has it measured."""
        self._on_cuda = device.type == "cuda"
        self._device = device
        self.boundary = perf_counter()
        """End of the last step, or the moment stepping went on."""
        self.active_s = 0.0
        """Time spent in steps since the last `take()`."""
        self._held: torch.cuda.Event | None = None
        """Is over when the steps are that were queued before stepping was interrupted."""
        self._every = 1
        self._until_next = 0
        self._marks: _Marks | None = None
        self._events: list[torch.cuda.Event] = []
        self._free_events: list[torch.cuda.Event] = []
        self._spans: _Spans = {}
        self._done: list[_Marks] = []
        self._running: deque[tuple[_Marks, list[torch.cuda.Event], _Spans]] = deque()
        self._device_ms: list[dict[str, float]] = []
        self._cost_s = self._measure_cost() if cost_s is None else cost_s

    @property
    def instrumented(self) -> bool:
        """Whether the step under way is."""
        return self._marks is not None

    def hold(self) -> None:
        """Something comes that is no part of a step, and does not wait for the device; `go_on` ends it."""
        if self._on_cuda:
            self._held = torch.cuda.Event()
            self._held.record(torch.cuda.current_stream(self._device))

    def catch_up(self) -> None:
        """Something comes that is no part of a step, and waits for the device: let that happen before it.

        The host may be hundreds of small steps ahead, which would seem to have taken no longer than queueing.
        """
        if not self._on_cuda:
            return
        asked = perf_counter()
        torch.cuda.synchronize(self._device)
        self._go_on(counts=perf_counter() - asked > BEHIND_S)

    def go_on(self) -> None:
        """Stepping was interrupted by something that is not part of a step; it goes on now.

        Where the device is still at the steps that came before, it has worked on them all the while, and
        that time is theirs.
        """
        self._go_on(counts=self._held is not None and not self._held.query())

    def _go_on(self, counts: bool) -> None:
        self._held = None
        now = perf_counter()
        if counts:
            self.active_s += now - self.boundary
        self.boundary = now

    def begin(self) -> None:
        """A step begins."""
        if self._until_next:
            self._until_next -= 1
            return
        self._until_next = self._every - 1
        self._marks = [self.boundary, perf_counter()]
        if self._on_cuda:
            self._record()

    def mark(self) -> None:
        """A phase ends."""
        if self._marks is not None:
            self._marks.append(perf_counter())
            if self._on_cuda:
                self._record()

    def mark_whole(self) -> None:
        """Forward, backward and optimizer were launched as one, which ends.

        All of it counts as forward, on the host and on the device: what the device spent on backward and
        optimizer by themselves is not known.
        """
        if self._marks is not None:
            self._marks += [perf_counter()] * 3
            if self._on_cuda:
                self._record()

    def span(self, phase: str, begin: torch.cuda.Event, end: torch.cuda.Event) -> None:
        """Of the step under way, this phase's work on the device lies between these two events.

        For work that the boundaries on the current stream do not enclose: a copy on a stream of its own,
        `data` put together on the device. Both events have timing, the step on the current stream comes
        after them, and nobody records them again.
        """
        if self._marks is not None:
            self._spans[phase] = (begin, end)

    def end(self) -> None:
        """The step ends."""
        now = perf_counter()
        self.active_s += now - self.boundary
        self.boundary = now
        marks = self._marks
        if marks is not None:
            marks.append(now)
            self._marks = None
            if self._on_cuda:
                self._running.append((marks, self._events, self._spans))
                self._events, self._spans = [], {}
            else:
                self._done.append(marks)

    def abandon(self) -> None:
        """The step that was begun did not end; forget it."""
        self._marks = None
        self._free_events += self._events
        self._events, self._spans = [], {}

    def take(self, steps: int) -> tuple[StepMs | None, dict[str, Phase] | None, float | None]:
        """What the instrumented steps since the last call showed, and begin anew.

        Args:
            steps: how many steps there were in all; chooses how many of the next are instrumented.

        Returns:
            Step times, phases, and dispatch in ms (host time from the start of forward to the return
            of the optimizer; None on a CPU, where nothing is dispatched ahead).
        """
        self._collect_events()
        done, device_ms = self._done, self._device_ms
        self._done, self._device_ms = [], []
        if steps and self.active_s:
            self._every = max(1, math.ceil(self._cost_s / (MAX_COST * self.active_s / steps)))
        self.active_s = 0.0
        if not done:
            return None, None, None
        return _step_ms(done), _phases(done, device_ms), self._dispatch_ms(done)

    def _dispatch_ms(self, done: list[_Marks]) -> float | None:
        if not self._on_cuda:
            return None
        return sum(marks[6] - marks[3] for marks in done) / len(done) * 1e3

    def _record(self) -> None:
        event = self._free_events.pop() if self._free_events else torch.cuda.Event(enable_timing=True)
        event.record(torch.cuda.current_stream(self._device))
        self._events.append(event)

    def _collect_events(self) -> None:
        while self._running and self._running[0][1][-1].query():
            marks, events, spans = self._running.popleft()
            # Event 0 is the start, event 1 the end of `data`.
            pairs = dict(zip(DEVICE_PHASES, pairwise(events[1:]), strict=False)) | spans
            self._device_ms.append({phase: begin.elapsed_time(end) for phase, (begin, end) in pairs.items()})
            self._done.append(marks)
            self._free_events += events

    def _measure_cost(self) -> float:
        rounds = 50
        started = perf_counter()
        for _ in range(rounds):
            self.begin()
            for _ in range(5):
                self.mark()
            self.end()
        cost_s = (perf_counter() - started) / rounds
        if self._on_cuda:
            torch.cuda.synchronize(self._device)
        self._collect_events()
        self._done, self._device_ms = [], []
        self.active_s = 0.0
        self.go_on()
        return cost_s


class MarkClock(PhaseClock):
    """Notes when the phases of a step were, and does not time it.

    Attributes:
        marks: of the last step, in nanoseconds since 1970: begin, the ends of its five phases, end.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__(device, cost_s=0.0)
        self.marks: list[int] = []

    @property
    def instrumented(self) -> bool:
        """Nothing is to be timed for it."""
        return False

    def begin(self) -> None:
        """A step begins."""
        self.marks = [time_ns()]

    def mark(self) -> None:
        """A phase ends."""
        self.marks.append(time_ns())

    def mark_whole(self) -> None:
        """Forward, backward and optimizer end as one."""
        self.marks += [time_ns()] * 3

    def span(self, phase: str, begin: torch.cuda.Event, end: torch.cuda.Event) -> None:
        """Where on the device a phase lies tells the profiler."""

    def end(self) -> None:
        """The step ends."""
        self.marks.append(time_ns())


def _step_ms(done: list[_Marks]) -> StepMs:
    times = sorted((marks[-1] - marks[0]) * 1e3 for marks in done)
    last = len(times) - 1
    return StepMs(p50=times[round(last * 0.5)], p95=times[round(last * 0.95)], mean=sum(times) / len(times))


def _phases(done: list[_Marks], device_ms: list[dict[str, float]]) -> dict[str, Phase]:
    count = len(done)
    phases = {}
    working_s = 0.0
    for index, name in enumerate(PHASES[:-1]):
        total_s = sum(marks[index + 2] - marks[index + 1] for marks in done)
        working_s += total_s
        times_ms = [step[name] for step in device_ms if name in step]
        # Known of some steps only, it would not be the mean of what the others have in one.
        on_device = sum(times_ms) / len(times_ms) if times_ms and len(times_ms) == len(device_ms) else None
        phases[name] = Phase(host_ms=total_s / count * 1e3, device_ms=on_device)
    wall_s = sum(marks[-1] - marks[0] for marks in done)
    phases["other"] = Phase(host_ms=(wall_s - working_s) / count * 1e3)
    return phases
