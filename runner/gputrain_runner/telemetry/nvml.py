"""Where the NVIDIA driver is initialised, through NVIDIA's own binding (nvidia-ml-py), and its GPUs found."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Event, Thread

from .absence import ASKING, NO_GPU, explain, interrupted, may_heal
from .device import Means
from .device_thread import DeviceThread
from .driver import Driver, DriverError
from .meter import Meter
from .pace import Pace
from .question import Tier
from .reading import GpuPart
from .uuids import bare

_RETRY_S = 5.0
_LATEST_RETRY_S = 60.0
"""A driver that could not be reached is tried again after 5 s, 10 s, 20 s ... a minute."""


@dataclass(slots=True)
class _Found:
    """What initialising has led to so far; replaced by the thread that does it, read by any."""

    absence: str | None = ASKING
    driver: str | None = None
    devices: tuple[DeviceThread, ...] = ()


class GpuSampler:
    """Finds the GPUs and has each asked by a thread of its own.

    A call may hang for ever, and then so does the thread that made it; nothing else waits for it. The
    driver is initialised once and not shut down: the system does that when the process ends, while
    nvmlShutdown can take a second and crashes a process that exits under it.
    """

    def __init__(
        self, interval_s: float, stop: Event, clock: Callable[[], float], ours: Callable[[], frozenset[int]]
    ) -> None:
        """`ours`: the processes that are the worker's."""
        self._interval_s = interval_s
        self._scale = interval_s / Tier.FAST.value
        self._stop = stop
        self._clock = clock
        self._ours = ours
        self._driver: Driver | None = None
        self._meter = Meter()
        self._found = _Found()
        self._wanted: frozenset[str] | None = None
        self._pace, self._overview = Pace(1), Pace(1)
        self._threads: tuple[Thread, ...] = ()

    def run(self) -> None:
        """The first thread's work, until the GPUs are found, or there turn out to be none."""
        again_s = _RETRY_S
        while not self._stop.is_set():
            try:
                self._find()
                return
            except Exception as error:
                self._found = _Found(explain(error), self._found.driver)
                self._meter = Meter()
                if not may_heal(error):
                    return
            self._stop.wait(again_s * self._scale)
            again_s = min(2 * again_s, _LATEST_RETRY_S)

    def focus(self, uuids: Collection[str]) -> None:
        """Ask these at the full rate and all others for an overview; where it is none, the first."""
        self._wanted = frozenset(bare(uuid) for uuid in uuids)

    def join(self, deadline_s: float) -> None:
        """Wait for the threads' ends, until `time.monotonic()` is `deadline_s`."""
        for thread in self._threads:
            thread.join(max(0.0, deadline_s - time.monotonic()))

    def ms_per_s(self) -> float | None:
        """Milliseconds inside driver calls per second, all GPUs together; None without a driver."""
        meters = [self._meter, *(device.meter for device in self._found.devices)]
        known = [spent for meter in meters if (spent := meter.ms_per_s()) is not None]
        return round(sum(known), 3) if known else None

    @property
    def part(self) -> GpuPart:
        """What the GPUs said last."""
        found = self._found
        parts = [device.part for device in found.devices]
        errors = [part.error for part in parts if part.error is not None]
        if errors and len(errors) == len(parts):
            return GpuPart(absence=interrupted(errors[0]), driver=found.driver)
        if all(part.taken_s is None and part.gpus[0].trouble is None for part in parts):
            return GpuPart(absence=found.absence, driver=found.driver)
        return GpuPart(
            gpus=tuple(gpu for part in parts for gpu in part.gpus),
            driver=found.driver,
            taken_s={device.index: part.taken_s for device, part in zip(found.devices, parts, strict=True)},
            troubles=_troubles(found.devices),
            focused=self._in_focus(),
        )

    def _in_focus(self) -> frozenset[int] | None:
        """The indices of the GPUs at the full rate; None for all."""
        wanted = self._wanted
        if wanted is None:
            return None
        gpus = [gpu for device in self._found.devices for gpu in device.part.gpus]
        found = {gpu.index for gpu in gpus if gpu.uuid is not None and bare(gpu.uuid) in wanted}
        return frozenset(found or {0})

    def _find(self) -> None:
        if self._driver is None:
            self._driver = _initialise(self._meter)
        driver = self._driver
        version = _version(driver)
        self._found = _Found(ASKING, version)
        count = int(driver.call("nvmlDeviceGetCount"))
        devices = tuple(self._device(index, driver) for index in range(count))
        self._found = _Found(ASKING if devices else NO_GPU, version, devices)
        threads = [
            Thread(
                target=device.run,
                args=(self._stop, self._interval_s * at / count),
                name=f"telemetry-gpu-{device.index}",
                daemon=True,
            )
            for at, device in enumerate(devices)
        ]
        self._threads = tuple(threads)
        for thread in threads:
            thread.start()

    def _device(self, index: int, driver: Driver) -> DeviceThread:
        means = Means(
            driver.with_meter(Meter()), self._pace, self._scale, self._clock, self._ours, self._overview
        )
        return DeviceThread(index, means, self._interval_s, self._aim)

    def _aim(self) -> frozenset[int] | None:
        """As `_in_focus`, and each kind's budget shared among as many."""
        focused, count = self._in_focus(), len(self._found.devices)
        self._pace.gpus = count if focused is None else len(focused)
        self._overview.gpus = max(1, count - self._pace.gpus)
        return focused


def _troubles(devices: Collection[DeviceThread]) -> dict[int, str]:
    troubles: dict[int, str] = {}
    for device in devices:
        part = device.part
        text = interrupted(part.error) if part.error is not None else part.gpus[0].trouble
        if text is not None:
            troubles[device.index] = text
    return troubles


def _initialise(meter: Meter) -> Driver:
    # Here and no earlier: the import costs time, and the library is loaded by the first call.
    import pynvml

    driver = Driver(pynvml, meter)
    driver.call("nvmlInit")
    return driver


def _version(driver: Driver) -> str | None:
    try:
        return str(driver.call("nvmlSystemGetDriverVersion")) or None
    except DriverError:
        return None
