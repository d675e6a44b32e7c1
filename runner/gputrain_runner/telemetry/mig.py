"""The MIG devices of a GPU: which there are, each asked for what is its own."""

from __future__ import annotations

from functools import partial
from typing import Any

from .device import Device, Means
from .driver import NOT_FOUND, Driver, DriverError, Kind
from .metrics import METRICS, OF_MIG_DEVICES
from .question import Instance, Tier

_METRICS = tuple(metric for metric in METRICS if metric.name in OF_MIG_DEVICES)
_MOST = 16


class MigDevices:
    """Looks a GPU's MIG devices up now and then: they come and go while it is in use."""

    def __init__(self, whole: Device, means: Means) -> None:
        self._whole = whole
        self._means = means
        self._look_again_s = float("-inf")
        self.devices: list[Device] = []
        """Those there are, by their numbers."""

    def refresh(self) -> None:
        """Look them up where that is due."""
        if not self._whole.known.get("mig_mode"):
            self._keep([])
            return
        now = self._means.clock()
        if now < self._look_again_s:
            return
        self._look_again_s = now + Tier.RARE.value * self._means.scale
        try:
            self._keep(self._look())
        except DriverError as error:
            if error.kind is not Kind.TRANSIENT:
                self._keep([])

    def close(self) -> None:
        """Give back what they hold of the driver's."""
        self._keep([])

    def _keep(self, devices: list[Device]) -> None:
        for gone in self.devices:
            if gone not in devices:
                gone.close()
        self.devices = devices

    def _look(self) -> list[Device]:
        driver, parent = self._means.driver, self._whole.handle
        most = int(driver.call("nvmlDeviceGetMaxMigDeviceCount", parent))
        found = []
        for number in range(min(most, _MOST)):
            try:
                handle = _handle(driver, parent, number)
                instance = Instance(parent, int(driver.call("nvmlDeviceGetGpuInstanceId", handle)))
            except DriverError as error:
                if error.code == NOT_FOUND:
                    continue
                raise
            found.append(self._known(number, instance) or self._device(number, instance))
        return found

    def _known(self, number: int, instance: Instance) -> Device | None:
        """The one there is already; handles of the driver's can be compared by identity alone."""
        for device in self.devices:
            of = device.instance
            if device.mig == number and of is not None and of.parent is instance.parent:
                return device if of.gpu_instance == instance.gpu_instance else None
        return None

    def _device(self, number: int, instance: Instance) -> Device:
        look_up = partial(_handle, self._means.driver, instance.parent, number)
        return Device(self._whole.index, self._means, _METRICS, number, instance, look_up)


def _handle(driver: Driver, parent: Any, number: int) -> Any:
    return driver.call("nvmlDeviceGetMigDeviceHandleByIndex", parent, number)
