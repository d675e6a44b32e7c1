"""The thread that asks one GPU: one call in flight, and one that hangs silences no other GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event

from ..hardware import Gpu
from .device import Device, Means
from .mig import MigDevices

_MEANWHILE_S = 0.5


@dataclass(frozen=True, slots=True)
class DevicePart:
    """What a GPU's thread has published last."""

    gpus: tuple[Gpu, ...]
    """The GPU, and its MIG devices."""
    taken_s: float | None = None
    """When it answered last, on the telemetry's clock."""
    error: Exception | None = None
    """An error of our own in the last round."""


class DeviceThread:
    """Asks one GPU round by round until it is stopped, and publishes what it said.

    A call may hang for ever, and then so does `run`; nothing waits for it.
    """

    def __init__(
        self, index: int, means: Means, interval_s: float, focused: Callable[[], frozenset[int] | None]
    ) -> None:
        """`focused`: the indices of the GPUs to be asked at the full rate; None for all."""
        self.index = index
        self.meter = means.driver.meter
        self._interval_s = interval_s
        self._means = means
        self._focused = focused
        self._device = Device(index, means)
        self._migs = MigDevices(self._device, means)
        self.part = DevicePart((Gpu(index=index),))
        """What was published last; replaced as a whole, so it may be read at any time."""

    def run(self, stop: Event, first_s: float) -> None:
        """The thread's work: the first round after `first_s`, so that not all ask at the same moment."""
        stop.wait(first_s)
        clock = self._means.clock
        due_s = clock()
        while not stop.is_set():
            try:
                self._round(stop)
                self._device.settle()
            except Exception as error:
                self.part = replace(self.part, error=error)
            due_s = max(due_s + self._interval_s, clock())
            stop.wait(due_s - clock())
        self._migs.close()
        self._device.close()

    def _round(self, stop: Event) -> None:
        device, migs = self._device, self._migs
        focused = self._focused()
        inside = focused is None or self.index in focused
        device.focus(inside)
        began_s = self._means.clock()
        asked = device.sample(stop.is_set, lambda: self._publish_meanwhile(began_s))
        migs.refresh()
        for part in migs.devices:
            part.focus(inside)
            asked = part.sample(stop.is_set) or asked
        before = self.part
        new = asked or before.error is not None or device.trouble != before.gpus[0].trouble
        if stop.is_set() or not new:
            return
        self._publish(self._means.clock() if asked else self.part.taken_s)

    def _publish(self, taken_s: float | None) -> None:
        whole = self._device.gpu()
        parts = [part.gpu(whole) for part in self._migs.devices]
        self.part = DevicePart((whole, *parts), taken_s)

    def _publish_meanwhile(self, began_s: float) -> None:
        """A driver that is slow is not silent: what it has said so far is published within a long round."""
        now_s = self._means.clock()
        last_s = began_s if self.part.taken_s is None else max(began_s, self.part.taken_s)
        if now_s - last_s >= _MEANWHILE_S:
            self._publish(now_s)
