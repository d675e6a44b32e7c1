"""From a profiler's events to the profile of a step: what was worked on, for how long, and what waited."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any, NamedTuple

from torch._C._autograd import DeviceType

from ..timeline import KindOfWork, Profile
from . import kinds

MARKS = ("data", "h2d", "forward", "backward", "optimizer", "other", "between")
"""What begins at each mark of a step, in their order: its phases, and at its end what is outside of any."""
_SUPPLYING = ("data", "h2d")
MOST_OVERHEAD_NS = 1000.0
"""The profiler's own time for an operator, at most: what is measured beyond is another program's."""

_WAITS = re.compile(
    r"^(cuda|hip)((Stream|Device|Event)Synchronize|Memcpy(2D|3D)?)(_|$)|^cu(Stream|Ctx|Event)Synchronize$"
)
_LAUNCHES = re.compile(r"Launch|Memcpy|Memset")
_TO_GPU = "Memcpy HtoD"
_COPIES = ("Memcpy HtoD", "Memcpy DtoH", "Memcpy PtoP")


class Event(NamedTuple):
    """Something that the profiler saw; times are nanoseconds since 1970."""

    name: str
    start_ns: int
    end_ns: int
    thread: int
    on_gpu: bool
    correlation: int
    """Shared by a call and what it launched on the GPU."""

    @property
    def ns(self) -> int:
        """How long it took."""
        return self.end_ns - self.start_ns


def read(result: Any) -> list[Event]:
    """The events of a profiler's result, without the ranges that programs name for people to read."""
    cpu = DeviceType.CPU
    return [
        Event(
            event.name(),
            start := event.start_ns(),
            start + event.duration_ns(),
            event.start_thread_id(),
            event.device_type() != cpu,
            event.correlation_id(),
        )
        for event in result.events()
        if not event.is_user_annotation()
    ]


class Steps:
    """When the phases of the profiled steps were.

    Args:
        marks: of every step, when it began, when each of its five working phases ended, and when it ended.
    """

    def __init__(self, marks: Sequence[Sequence[int]]) -> None:
        self.count = len(marks)
        self._marks = [mark for step in marks for mark in step]
        self.began, self.ended = self._marks[0], self._marks[-1]
        self.wall_ns = [step[-1] - step[0] for step in marks]
        """How long each took."""

    def each_ms(self, total_ns: float) -> float:
        """Nanoseconds of all steps together as milliseconds of each."""
        return total_ns / (1e6 * self.count)

    def holds(self, at_ns: int) -> bool:
        """Whether it was between the first step's begin and the last one's end."""
        return self.began <= at_ns < self.ended

    def index(self, at_ns: int) -> int:
        """Which step was under way then."""
        return (bisect_right(self._marks, at_ns) - 1) // len(MARKS)

    def phase(self, at_ns: int) -> str:
        """What was under way on the host then."""
        return MARKS[(bisect_right(self._marks, at_ns) - 1) % len(MARKS)]


def of_gpu(
    events: Iterable[Event], steps: Steps, step_ms: float, batch_bytes: int | None = None
) -> Profile | None:
    """The profile of steps on a GPU; None where nothing was seen to run there.

    Args:
        events: calls of the CUDA runtime and what they launched.
        steps: the profiled steps.
        step_ms: a step's wall time without the profiler.
        batch_bytes: what is copied to the GPU in a step, where something is; None: it is not known.
    """
    events = list(events)
    ran = _ran(events, steps)
    if not ran:
        return None
    work = _Work(steps)
    for event, phase in ran:
        in_optimizer = phase == "optimizer" and not event.name.startswith(_COPIES)
        work.add(kinds.OPTIMIZER if in_optimizer else kinds.of_kernel(event.name), event.ns)
    to_gpu = [event for event, _ in ran if event.name.startswith(_TO_GPU)]
    kernels = [event for event, _ in ran if not event.name.startswith(_COPIES)]
    calls = [event for event in events if not event.on_gpu and steps.holds(event.start_ns)]
    waits = [e for e in calls if _WAITS.search(e.name) and steps.phase(e.start_ns) not in _SUPPLYING]
    return Profile(
        steps=steps.count,
        step_ms=step_ms,
        work_ms=steps.each_ms(union_ns(event for event, _ in ran)),
        launches=len(ran) / steps.count,
        launch_calls=sum(_LAUNCHES.search(event.name) is not None for event in calls) / steps.count,
        work=work.mean(),
        copy_ms=steps.each_ms(union_ns(to_gpu)),
        copy_exposed_ms=steps.each_ms(union_ns([*kernels, *to_gpu]) - union_ns(kernels)),
        copy_bytes=batch_bytes if to_gpu else 0,
        sync_count=len(waits) / steps.count,
        sync_ms=steps.each_ms(sum(event.ns for event in waits)),
        tensor_core_ms=steps.each_ms(union_ns(e for e, _ in ran if kinds.uses_tensor_cores(e.name))),
    )


def of_cpu(events: Iterable[Event], steps: Steps, step_ms: float) -> Profile | None:
    """The profile of steps on a CPU; None where no operator was seen.

    The profiler slows down what it watches, by about the same for every operator: that time is taken out,
    and what remains is scaled to a step that is not watched. Of several steps it is the median.

    Values that the optimizer reads from its own counters are no synchronisation: those are on the host with
    every device.
    """
    within = [event for event in events if not event.on_gpu and steps.holds(event.start_ns)]
    if not within:
        return None
    step_ns = step_ms * 1e6
    overhead_ns = (median(steps.wall_ns) - step_ns) * steps.count / len(within)
    overhead_ns = min(max(overhead_ns, 0.0), MOST_OVERHEAD_NS)
    work, supply, reads = _Work(steps), _Work(steps), _Work(steps)
    true_ns: list[float] = list(steps.wall_ns)
    for event, own_ns, calls in _own_times(within):
        phase, step = steps.phase(event.start_ns), steps.index(event.start_ns)
        true_ns[step] -= overhead_ns
        if event.name == "aten::_local_scalar_dense" and phase != "optimizer":
            reads.add(phase, event.ns, step)
        kind = kinds.of_operator(event.name)
        if kind is not None:
            # Half of what an operator costs the profiler falls into itself, half into who calls it.
            working_ns = max(0.0, own_ns - overhead_ns * (1 + calls) / 2)
            work.add(kinds.OPTIMIZER if phase == "optimizer" else kind, working_ns, step)
            if phase in _SUPPLYING:
                supply.add(phase, working_ns, step)
    # More than one thread can work at a time: then the sum is more than the step.
    scales = [step_ns / max(1.0, *both) for both in zip(true_ns, work.each_ns(), strict=True)]
    return Profile(
        steps=steps.count,
        step_ms=step_ms,
        work_ms=min(step_ms, work.usual_ms(scales)),
        launches=work.count / steps.count,
        work=work.usual(scales),
        sync_count=reads.count / steps.count,
        sync_ms=reads.usual_ms(scales),
        supply_ms=supply.usual_ms(scales),
    )


def union_ns(events: Iterable[Event]) -> int:
    """The time in which at least one of them was under way."""
    total, until = 0, 0
    for event in sorted(events, key=lambda event: event.start_ns):
        if event.end_ns > until:
            total += event.end_ns - max(event.start_ns, until)
            until = event.end_ns
    return total


def _ran(events: Sequence[Event], steps: Steps) -> list[tuple[Event, str]]:
    """What the steps launched on the GPU, whenever it ran, with the host's phase at its launch."""
    launched_ns = {e.correlation: e.start_ns for e in events if not e.on_gpu and _LAUNCHES.search(e.name)}
    return [
        (event, steps.phase(at_ns))
        for event in events
        if event.on_gpu and steps.holds(at_ns := launched_ns.get(event.correlation, event.start_ns))
    ]


class _Work:
    """Time and number of operations by kind, step by step."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps.count
        self._ns: dict[str, list[float]] = {}
        self._counts: dict[str, int] = {}

    @property
    def count(self) -> int:
        """Operations of all steps."""
        return sum(self._counts.values())

    def add(self, kind: str, ns: float, step: int = 0) -> None:
        """One of them."""
        self._ns.setdefault(kind, [0.0] * self._steps)[step] += ns
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def each_ns(self) -> list[float]:
        """Of all kinds together, in each step."""
        return [sum(ns) for ns in zip(*self._ns.values(), strict=True)] or [0.0] * self._steps

    def mean(self) -> dict[str, KindOfWork]:
        """Of each kind in a step, the largest first."""
        return self._ranked({kind: sum(ns) / self._steps for kind, ns in self._ns.items()})

    def usual(self, scales: Sequence[float]) -> dict[str, KindOfWork]:
        """The same, but the median step's, each step scaled: another program may disturb one of them."""
        return self._ranked(
            {
                kind: median(one * scale for one, scale in zip(ns, scales, strict=True))
                for kind, ns in self._ns.items()
            }
        )

    def usual_ms(self, scales: Sequence[float]) -> float:
        """All kinds of that together."""
        return sum(kind.ms for kind in self.usual(scales).values())

    def _ranked(self, ns_of: dict[str, float]) -> dict[str, KindOfWork]:
        ranked = sorted(ns_of.items(), key=lambda item: -item[1])
        return {kind: KindOfWork(ms=ns / 1e6, count=self._counts[kind] / self._steps) for kind, ns in ranked}


def _own_times(events: Iterable[Event]) -> Iterable[tuple[Event, int, int]]:
    """Each event, its time without what it calls, and how many it calls itself."""
    # By thread; who calls before those that it calls.
    ordered = sorted(events, key=lambda event: (event.thread, event.start_ns, -event.end_ns))
    own_ns = [event.ns for event in ordered]
    calls = [0] * len(ordered)
    open_now: list[int] = []
    for index, event in enumerate(ordered):
        while open_now and (
            ordered[open_now[-1]].thread != event.thread or event.start_ns >= ordered[open_now[-1]].end_ns
        ):
            open_now.pop()
        if open_now:
            own_ns[open_now[-1]] -= event.ns
            calls[open_now[-1]] += 1
        open_now.append(index)
    return zip(ordered, own_ns, calls, strict=True)
