"""Telemetry of GPUs and host: threads of this program that nobody ever waits for."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from threading import Event, Thread

from msgspec import structs

from .absence import ASKING, asking
from .host import HostSampler
from .nvml import GpuSampler
from .reading import Reading

_STOP_WAIT_S = 0.015
"""How long stopping waits for calls in flight: the usual ones end in time, a hung one is left behind."""


class Telemetry:
    """Samples while started. Every method returns at once, whatever the driver does.

    One plain daemon thread initialises the NVIDIA driver, one asks each GPU, one reads the host. Start
    it after the first frame: nothing of NVML or psutil is imported or called before.
    """

    def __init__(self, interval_s: float = 0.5, clock: Callable[[], float] = time.monotonic) -> None:
        """`interval_s`: seconds between two askings for what moves fastest; the rest in proportion."""
        self._clock = clock
        self._stop = Event()
        self._host = HostSampler(2 * interval_s, self._stop, clock)
        self._gpus = GpuSampler(interval_s, self._stop, clock, lambda: self._host.members)
        self._started_s: float | None = None
        self._threads = (
            Thread(target=self._gpus.run, name="telemetry-nvml", daemon=True),
            Thread(target=self._host.run, name="telemetry-host", daemon=True),
        )

    def start(self) -> None:
        """Begin to sample; a second start, and one after a stop, does nothing."""
        if self._started_s is not None or self._stop.is_set():
            return
        self._started_s = self._clock()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End for good, within 50 ms: a thread that hangs in the driver is left to the process's end."""
        self._stop.set()
        if self._started_s is None:
            return
        deadline = time.monotonic() + _STOP_WAIT_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._gpus.join(deadline)

    def watch(self, worker_pid: int | None) -> None:
        """The process whose CPU time and memory, with its children's, are the worker's from now on."""
        self._host.watch(worker_pid)

    def focus(self, uuids: Collection[str]) -> None:
        """The GPUs (or MIG devices) that train: asked at the full rate from now on, all others now and then.

        Where there are none of these, the first GPU is the one at the full rate. Before the first call
        all are.
        """
        self._gpus.focus(uuids)

    def latest(self) -> Reading:
        """The last known values; the same until there are newer ones, also after a stop."""
        part = self._gpus.part
        now = self._clock()
        ages = {
            index: None if taken_s is None else max(0.0, now - taken_s)
            for index, taken_s in part.taken_s.items()
        }
        return Reading(
            gpus=list(part.gpus),
            host=structs.replace(self._host.load, nvml_ms_per_s=self._gpus.ms_per_s()),
            gpu_absence=self._absence(part.absence, now),
            driver=part.driver,
            age_s=min((age_s for age_s in ages.values() if age_s is not None), default=None),
            troubles=part.troubles,
            ages_s=ages,
            focused=part.focused,
        )

    def _absence(self, absence: str | None, now: float) -> str | None:
        if absence != ASKING:
            return absence
        return None if self._started_s is None else asking(now - self._started_s)
