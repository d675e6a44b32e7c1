"""Host and GPU while a point's steps run: the means of what the telemetry says meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread

from ..samples import TelemetrySource
from ..telemetry.reading import Reading

EVERY_S = 0.2
HOST_WINDOW_S = 1.0
"""The host's figures are means over about so long before they are taken."""
OF_GPU = (
    "utilisation",
    "sm_active",
    "tensor_active",
    "dram_active",
    "sm_clock_mhz",
    "power_w",
    "temperature_c",
    "memory_used_bytes",
    "pcie_rx_bytes_per_s",
    "pcie_tx_bytes_per_s",
)
OF_HOST = ("cpu_utilisation", "worker_cpu_utilisation")

_Seen = dict[tuple[str, float, float], float]


class Watching:
    """Looks at the telemetry some times a second, and forgets at each point's beginning."""

    def __init__(self, telemetry: TelemetrySource, clock: Callable[[], float] = time.monotonic) -> None:
        self._telemetry = telemetry
        self._clock = clock
        self._uuid: str | None = None
        self._seen: _Seen = {}
        """What was measured, by its name and from when to when it is of."""
        self._last_host: object = None
        self._stop = Event()

    @property
    def driver(self) -> str | None:
        """The driver's version, as far as it is known by now."""
        return self._telemetry.latest().driver

    def start(self) -> None:
        """Look from now on, in a thread of its own, until `close`."""
        Thread(target=self._look_on, name="sweep telemetry", daemon=True).start()

    def begin(self, uuid: str | None, worker_pid: int) -> None:
        """A point begins, on the GPU of that UUID (None: on the CPU), in that process."""
        self._telemetry.watch(worker_pid)
        self._telemetry.focus([uuid] if uuid is not None else [])
        self._uuid = uuid
        self._seen = {}

    def means(self, since: float, until: float) -> dict[str, float] | None:
        """The means over what was measured between these times; None where nothing was."""
        found: dict[str, list[float]] = {}
        for (name, begin, end), value in list(self._seen.items()):
            if since <= begin and end <= until:
                found.setdefault(name, []).append(value)
        return {name: sum(values) / len(values) for name, values in found.items()} or None

    def close(self) -> None:
        """Look no more."""
        self._stop.set()

    def look(self) -> None:
        """Take in what is new."""
        reading, now, seen = self._telemetry.latest(), self._clock(), self._seen
        self._look_at_gpu(reading, now, seen)
        if reading.host is not self._last_host and reading.host != self._last_host:
            self._last_host = reading.host
            for name in OF_HOST:
                value = getattr(reading.host, name)
                if value is not None:
                    seen[name, now - HOST_WINDOW_S, now] = value

    def _look_at_gpu(self, reading: Reading, now: float, seen: _Seen) -> None:
        gpu = next((each for each in reading.gpus if each.uuid is not None and each.uuid == self._uuid), None)
        age_s = None if gpu is None else reading.ages_s.get(gpu.index)
        if gpu is None or age_s is None:
            return
        for name in OF_GPU:
            value = getattr(gpu, name)
            if value is not None:
                # Looked at twice, a value counts once.
                taken = round(now - age_s, 2)
                seen[name, taken, taken] = float(value)

    def _look_on(self) -> None:
        while not self._stop.wait(EVERY_S):
            self.look()
