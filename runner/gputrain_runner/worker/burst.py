"""Bursts of profiled steps: when they are made, and what they cost.

Every now and then a few steps run under PyTorch's profiler. They train like all others, but are in no rate,
phase or step time. What the profiler saw becomes a profile (`burst_events.py`).
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable
from statistics import median
from time import perf_counter

from torch.autograd import profiler as autograd_profiler
from torch.profiler import ProfilerActivity, supported_activities

from ..protocol import Progress
from ..settings import Settings
from ..timeline import Profile
from . import burst_events
from .devices import synchronize
from .phases import MarkClock
from .supply.memory import sample_bytes
from .trainer import Trainer

FIRST_AFTER_S = 1.5
"""How long steps must be steady before the first burst under some settings."""
MOST_SHARE = 0.005
"""Of wall time, what bursts may cost in the long run."""
FIRST_AT_MOST_S = 15.0
"""What a burst cost under other settings says little of these: after so long the first one is made."""
COSTLY_S = 1.0
"""A burst that costs more is not made at once after every change."""
MOST_EVENTS = 20_000
"""Events in a burst beyond which fewer steps are profiled."""
MOST_SLOWER_S = 4e-6
"""Per event, what the profiler slows down the steps by at most."""
MOST_LEFT_OUT = 64
"""Steps left out at most for the queue to fill again."""

_NO_CUPTI = (
    " (CUPTI is missing or not permitted, or another tool uses it; the worker's log says more with"
    " KINETO_LOG_LEVEL=1 in the environment)"
)

# The profiler writes two lines a burst to stderr, which is where a worker's last words are looked for.
os.environ.setdefault("KINETO_LOG_LEVEL", "6")
# It must stay attached to the GPU between bursts: coming back crashes with CUDA graphs.
os.environ.setdefault("TEARDOWN_CUPTI", "0")


def spacing_s(every_s: float, cost_s: float, first: bool) -> float:
    """Seconds from one burst's end to the next one's begin, at least.

    Args:
        every_s: how often they are wanted.
        cost_s: what the last one cost.
        first: whether it is the first under some settings.
    """
    rarely_s = cost_s / MOST_SHARE
    if first:
        return min(rarely_s, FIRST_AT_MOST_S) if cost_s > COSTLY_S else 0.0
    return max(every_s, rarely_s)


class Bursts:
    """Makes bursts in a trainer's steps.

    Attributes:
        under_way: whether the next step is one of a burst's, to be made with `step`.
    """

    def __init__(self, trainer: Trainer, every_s: float | None, say: Callable[[str], None]) -> None:
        """Prepare it.

        Args:
            trainer: whose steps are profiled.
            every_s: seconds from one burst to the next, at least; None or 0: there are none.
            say: tells the user why there are none.
        """
        self.under_way = False
        self.profile: Profile | None = None
        """What a burst showed that is not reported yet."""
        self._trainer = trainer
        self._every_s = every_s
        self._say = say
        self._profiler: autograd_profiler.profile | None = None
        self._ready_for_cuda = False
        self._left = 0
        """Steps to make, of those that are profiled or, once they are, of those that are left out."""
        self._unseen = 0
        """Of those that are profiled the first, in which the profiler warms up."""
        self._clock = MarkClock(trainer.device)
        self._marks: list[list[int]] = []
        self._began = self._queued_s = self._step_ms = 0.0
        self._steady_ms: deque[float] = deque(maxlen=20)
        self._steady_since = 0.0
        self._wanted_at: float | None = None
        """Since when it is time for one; None where it is not, or one has begun."""
        self._profiled: Settings | None = None
        self._busy: float | None = None
        self._ended_at = -math.inf
        self._cost_s = 0.0
        self._events_per_step = 0.0

    @property
    def busy(self) -> float | None:
        """The GPU's busy share by the newest profile under the settings in force; None where none is."""
        return self._busy if self._profiled == self._trainer.settings else None

    def take_profile(self) -> Profile | None:
        """What the last burst showed, once."""
        profile, self.profile = self.profile, None
        return profile

    def begin_anew(self) -> None:
        """Steps are to be steady first: settings may have changed, or none ran for a while.

        Has the profiler attach itself to a GPU, once: that takes long, and it does not see into graphs that
        were captured before.
        """
        self._wanted_at = None
        self._steady_ms.clear()
        if self._every_s and not self._ready_for_cuda and self._trainer.device.type == "cuda":
            self._ready_for_cuda = True
            if self._start():
                self._stop()

    def consider(self, report: Progress | None) -> None:
        """After a report: a burst begins with the next step, where it is time for one."""
        if report is None:
            return
        if not report.steady:
            self._wanted_at = None
            self._steady_ms.clear()
        elif report.step_ms is not None and self._every_s and not self.under_way:
            if not self._steady_ms:
                self._steady_since = report.at
            # On a GPU the host's single steps may come in fits and starts, as the queue takes them.
            on_cuda = self._trainer.device.type == "cuda"
            self._steady_ms.append(
                1e3 / report.steps_per_s if on_cuda and report.steps_per_s else report.step_ms.p50
            )
            if self._is_time(report.at):
                self._begin(report.at)

    def begin_epoch(self) -> None:
        """The next step is an epoch's first: a burst begins with it, if the last one had no room left."""
        if self._wanted_at is not None:
            self._begin(self._wanted_at)

    def step(self) -> int:
        """One step, which no clock times; the number of samples in it."""
        trainer = self._trainer
        clock, trainer.clock = trainer.clock, self._clock
        try:
            samples = trainer.step()
        finally:
            trainer.clock = clock
        self._left -= 1
        if self._profiler is not None:
            self._marks.append(self._clock.marks)
            if not self._left:
                self._end()
        self.under_way = self._left > 0
        clock.go_on()
        return samples

    def give_up(self) -> None:
        """Forget the burst under way, if one is: something other than its next step comes."""
        if self.under_way:
            self.under_way = False
            self._stop()
            self._trainer.clock.go_on()

    def _is_time(self, now: float) -> bool:
        first = self._profiled != self._trainer.settings
        apart_s = spacing_s(self._every_s or 0.0, self._cost_s, first)
        return now - self._steady_since >= FIRST_AFTER_S and now - self._ended_at >= apart_s

    def _begin(self, now: float) -> None:
        """Begin, unless the epoch has too few whole batches left."""
        trainer = self._trainer
        order = trainer.order
        in_all, left = (samples // order.batch_size for samples in (len(order.order), order.left))
        self._step_ms = median(self._steady_ms)
        steps, unseen = self._how_many()
        unseen = min(unseen, in_all - 1)
        steps = min(steps, in_all - unseen)
        if left < steps + unseen:
            self._wanted_at = now
            return
        asked = perf_counter()
        synchronize(trainer.device)  # What is queued belongs to steps before.
        self._began = perf_counter()
        self._queued_s = self._began - asked
        self._ended_at = now
        self._wanted_at = None
        if self._start():
            self._left, self._unseen, self._marks = steps + unseen, unseen, []
            self.under_way = True
        trainer.clock.go_on()

    def _how_many(self) -> tuple[int, int]:
        """Steps to profile, and steps before them in which the profiler warms up."""
        if self._step_ms > 500:
            return 1, 0
        steps = 5 if self._step_ms < 50 else 3
        if self._events_per_step:
            steps = min(steps, max(1, int(MOST_EVENTS / self._events_per_step)))
        return steps, 1

    def _end(self) -> None:
        events = self._stop()
        if events is None:
            return
        trainer = self._trainer
        on_cuda = trainer.device.type == "cuda"
        steps = burst_events.Steps(self._marks[self._unseen :])
        self._events_per_step = len(events) / len(self._marks)
        if on_cuda:
            profile = burst_events.of_gpu(events, steps, self._step_ms, self._batch_bytes())
        else:
            profile = burst_events.of_cpu(events, steps, self._step_ms)
        if profile is None:
            self._refrain("it sees nothing run there" + (_NO_CUPTI if on_cuda else ""))
            return
        self.profile = profile
        self._profiled = trainer.settings
        self._busy = min(1.0, profile.work_ms / profile.step_ms) if on_cuda else None
        self._note_cost(len(events))
        self._left = self._left_out()

    def _note_cost(self, events: int) -> None:
        """What the burst took that its steps would not have taken anyway."""
        spent_s = perf_counter() - self._began
        in_steps_s = (self._marks[-1][-1] - self._marks[0][0]) * 1e-9
        slower_s = in_steps_s - len(self._marks) * self._step_ms * 1e-3
        # Another program may slow down the steps as well, and is no reason to make fewer bursts.
        self._cost_s = spent_s - in_steps_s + min(max(0.0, slower_s), events * MOST_SLOWER_S)
        self._ended_at += spent_s

    def _left_out(self) -> int:
        """Steps that come too fast after a burst: the queue is empty, or much was gathered meanwhile."""
        settings = self._trainer.settings
        waited_s = self._queued_s if self._trainer.device.type == "cuda" else 0.0
        if settings.data_path in ("prefetch", "loader"):
            waited_s += self._cost_s
        return min(MOST_LEFT_OUT, math.ceil(waited_s * 1e3 / self._step_ms))

    def _batch_bytes(self) -> int | None:
        settings = self._trainer.settings
        if settings.data_path == "resident":
            return None  # What little is copied is not the batch.
        return settings.batch_size * sample_bytes(self._trainer.dataset.training)

    def _start(self) -> bool:
        """Whether the profiler runs now."""
        on_cuda = self._trainer.device.type == "cuda"
        if on_cuda and ProfilerActivity.CUDA not in supported_activities():
            self._refrain("it is built without CUPTI")
            return False
        try:
            profiler = autograd_profiler.profile(
                use_kineto=True, use_cpu=not on_cuda, use_device="cuda" if on_cuda else None
            )
            profiler.__enter__()
        except Exception as error:
            self._refrain(str(error).split("\n", 1)[0])
            return False
        self._profiler = profiler
        return True

    def _stop(self) -> list[burst_events.Event] | None:
        """What it has seen; None where it has failed, or does not run."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return None
        try:
            synchronize(self._trainer.device)
            profiler.__exit__(None, None, None)
            return burst_events.read(profiler.kineto_results)
        except Exception as error:
            self._refrain(str(error).split("\n", 1)[0])
            return None

    def _refrain(self, why: str) -> None:
        """There are no more bursts; the user is told once."""
        self._every_s = None
        self.under_way = False
        device = self._trainer.settings.device
        self._say(f"what {device} really does stays unknown, PyTorch's profiler cannot tell: {why}")
