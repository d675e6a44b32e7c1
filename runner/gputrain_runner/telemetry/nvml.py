"""The thread that asks the NVIDIA driver, through NVIDIA's own binding (nvidia-ml-py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

from .absence import ASKING, NO_GPU, explain, interrupted
from .device import Device
from .driver import Driver, DriverError
from .meter import Meter
from .pace import Pace
from .question import Tier
from .reading import GpuPart


class GpuSampler:
    """Asks all GPUs, round by round, and publishes what they said.

    A call may hang for ever, and then so does `run`; nothing else waits for it. The driver is
    initialised once and not shut down: the system does that when the process ends, while
    nvmlShutdown can take a second and crashes a process that exits under it.
    """

    def __init__(self, interval_s: float, stop: Event, clock: Callable[[], float]) -> None:
        self._interval_s = interval_s
        self._stop = stop
        self._clock = clock
        self.meter = Meter()
        """Time inside the driver; empty where there is none to be asked."""
        self.part = GpuPart(absence=ASKING)
        """What was published last; replaced as a whole, so it may be read at any time."""

    def run(self) -> None:
        """The thread's work, until it is stopped or there turns out to be no GPU."""
        try:
            driver = _initialise(self.meter)
            version = _version(driver)
            devices = self._devices(driver)
        except Exception as error:
            self.part = GpuPart(absence=explain(error))
            self.meter = Meter()
            return
        pace, members = devices
        self.part = replace(self.part, driver=version, absence=ASKING if members else NO_GPU)
        due_s = self._clock()
        while members and not self._stop.is_set():
            try:
                self._round(members)
                pace.settle()
            except Exception as error:
                self.part = replace(self.part, gpus=(), absence=interrupted(error))
            due_s = max(due_s + self._interval_s, self._clock())
            self._stop.wait(due_s - self._clock())

    def _devices(self, driver: Driver) -> tuple[Pace, Sequence[Device]]:
        count = int(driver.call("nvmlDeviceGetCount"))
        pace = Pace(count)
        scale = self._interval_s / Tier.FAST.value
        return pace, [Device(index, driver, pace, scale, self._clock) for index in range(count)]

    def _round(self, devices: Sequence[Device]) -> None:
        """Publishes after each GPU, so that one that hangs keeps back only its own values."""
        for device in devices:
            asked = device.sample(self._stop.is_set)
            if self._stop.is_set():
                return
            troubles = {at: other.trouble for at, other in enumerate(devices)}
            self.part = GpuPart(
                gpus=tuple(other.gpu for other in devices),
                driver=self.part.driver,
                taken_s=self._clock() if asked else self.part.taken_s,
                troubles={at: text for at, text in troubles.items() if text is not None},
            )


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
