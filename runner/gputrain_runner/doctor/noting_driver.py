"""The driver's door with a note at it: which call is under way, for the case that it never returns."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..telemetry.driver import Driver, DriverError, Field, FieldValue
from ..telemetry.meter import Meter


class NotingDriver(Driver):
    """Used by one thread; `calling` may be read by any."""

    calling: tuple[str, float] | None = None
    """The call under way, by its name in NVML, and since when (`time.monotonic()`)."""

    def with_meter(self, meter: Meter) -> NotingDriver:
        """The same library for another thread."""
        return NotingDriver(self._binding, meter)

    def call(self, name: str, *arguments: object) -> Any:
        """As `Driver.call`, noted."""
        self.calling = (name, time.monotonic())
        try:
            return super().call(name, *arguments)
        finally:
            self.calling = None

    def fields_apart(self, handle: object, fields: Sequence[Field]) -> dict[Field, FieldValue | DriverError]:
        """As `Driver.fields_apart`, noted."""
        self.calling = ("nvmlDeviceGetFieldValues", time.monotonic())
        try:
            return super().fields_apart(handle, fields)
        finally:
            self.calling = None


def load_driver() -> NotingDriver:
    """The door, not yet initialised.

    Raises:
        ImportError: nvidia-ml-py is not installed as it should be.
    """
    # Here and no earlier: the import costs time.
    import pynvml

    return NotingDriver(pynvml, Meter())
