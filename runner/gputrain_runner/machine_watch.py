"""The telemetry as a session takes it in: what goes into samples, into the header, and what is said."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from msgspec import structs

from .book import Book
from .gpu_samples import GpuSamples
from .hardware import Gpu, HostLoad
from .telemetry.reading import Reading
from .telemetry.uuids import known_to_driver
from .telemetry.visible import cuda_order, listed
from .timeline import Header


class MachineWatch:
    """Reads the telemetry for each sample. Its session guards it with a lock.

    Args:
        book: whose header learns what the driver knows, and where trouble is entered.
        latest: the telemetry's last known values.
    """

    def __init__(self, book: Book, latest: Callable[[], Reading]) -> None:
        self._book = book
        self._latest = latest
        self._samples = GpuSamples()
        self._troubles: dict[int, str] = {}

    def look(self, t: float) -> tuple[list[Gpu], HostLoad]:
        """What a sample at `t`, seconds of the session, is to hold of GPUs and host."""
        reading = self._latest()
        self._book.revise(_with_driver(self._book.header, reading))
        self._tell_troubles(reading, t)
        return self._samples.choose(reading, t), reading.host

    def _tell_troubles(self, reading: Reading, t: float) -> None:
        """Say once what is wrong with a GPU, and once that it answers again."""
        for index, trouble in reading.troubles.items():
            if self._troubles.get(index) != trouble:
                self._book.say("warning", trouble, t)
        for index in self._troubles.keys() - reading.troubles.keys():
            if any(gpu.index == index for gpu in reading.gpus):
                self._book.say("info", f"GPU {index} can be read again", t)
        self._troubles = dict(reading.troubles)


def _with_driver(header: Header, reading: Reading) -> Header:
    """The header with what the driver knows of host and devices."""
    host = header.host
    if reading.driver is not None and reading.driver != host.driver:
        host = structs.replace(host, driver=reading.driver)
    devices = header.devices
    if reading.gpus and any(device.device != "cpu" for device in devices):
        devices = known_to_driver(devices, reading.gpus, _order(reading.gpus))
    return structs.replace(header, host=host, devices=devices)


def _order(gpus: Sequence[Gpu]) -> tuple[str, ...] | None:
    """CUDA's order, where it can be told without CUDA; the worker has this process's environment."""
    order = cuda_order(listed(gpus), os.environ)
    return order.uuids if order.certain else None
