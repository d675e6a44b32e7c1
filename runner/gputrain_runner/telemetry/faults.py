"""What is going wrong in a GPU: memory errors, rows and pages given up, PCIe repeats, Xid errors."""

from __future__ import annotations

import os
from typing import Any

from .driver import Driver, DriverError, Kind
from .question import Ask, Question, Values

REMAPPED = (
    "remapped_rows_corrected",
    "remapped_rows_uncorrected",
    "remapping_pending",
    "remapping_failed",
)
_VOLATILE = 0
"""NVML_VOLATILE_ECC: since the driver was loaded."""
CORRECTED, UNCORRECTED = 0, 1
"""NVML_MEMORY_ERROR_TYPE_*."""
_MOST = 2**48
"""More errors than this is a counter that was never written."""
_MOST_ROWS = 2**20
_XID = 0x8
"""nvmlEventTypeXidCriticalError."""
_TIMEOUT = 10
_KEPT = 8
_HIGHEST_XID = 1000


def ecc(field: str, kind: int) -> Ask:
    """Errors of one kind since the driver was loaded."""

    def ask(question: Question) -> Values:
        count = question.driver.call("nvmlDeviceGetTotalEccErrors", question.handle, kind, _VOLATILE)
        return {field: _count(int(count), _MOST)}

    return ask


def remapped_rows(question: Question) -> Values:
    """Rows of memory that were replaced by spare ones, and whether that is still to be done or failed."""
    rows = question.driver.call("nvmlDeviceGetRemappedRows", question.handle)
    corrected, uncorrected, pending, failed = (int(value) for value in rows)
    return {
        "remapped_rows_corrected": _count(corrected, _MOST_ROWS),
        "remapped_rows_uncorrected": _count(uncorrected, _MOST_ROWS),
        "remapping_pending": {0: False, 1: True}.get(pending),
        "remapping_failed": {0: False, 1: True}.get(failed),
    }


def pcie_replays(question: Question) -> Values:
    """PCIe packets sent again since the driver was loaded."""
    count = int(question.driver.call("nvmlDeviceGetPcieReplayCounter", question.handle))
    return {"pcie_replays": _count(count, 2**32 - 2)}


class XidEvents:
    """The driver's word on errors of one GPU, collected from the moment of registering."""

    def __init__(self, question: Question) -> None:
        self._driver: Driver = question.driver
        self._set: Any = question.driver.call("nvmlEventSetCreate")
        self._seen: list[int] = []
        self._garbled = False
        """Whether there were errors whose numbers could not be read."""
        try:
            question.driver.call("nvmlDeviceRegisterEvents", question.handle, _XID, self._set)
        except DriverError:
            self.close()
            raise

    def newest(self) -> list[int] | None:
        """The last ones, the newest last; does not wait for more. None where none could be read."""
        for _ in range(_KEPT):
            try:
                event = self._driver.call("nvmlEventSetWait_v2", self._set, 0)
            except DriverError as error:
                if error.code != _TIMEOUT:
                    raise
                break
            if not int(event.eventType) & _XID:
                continue
            if 0 < int(event.eventData) < _HIGHEST_XID:
                self._seen.append(int(event.eventData))
            else:
                self._garbled = True
        del self._seen[:-_KEPT]
        return list(self._seen) if self._seen or not self._garbled else None

    def close(self) -> None:
        """Give the driver its memory back."""
        events, self._set = self._set, None
        if events is not None:
            try:
                self._driver.call("nvmlEventSetFree", events)
            except DriverError:
                return  # It goes with the process.


def xid_errors(question: Question) -> Values:
    """Xid errors since the first asking. Windows has no such events."""
    if os.name == "nt":
        raise DriverError(Kind.UNSUPPORTED, "no events on Windows")
    events: XidEvents | None = question.notes.get("events")
    if events is None:
        events = question.notes["events"] = XidEvents(question)
    return {"xid_errors": events.newest()}


def _count(value: int, most: int) -> int | None:
    return value if 0 <= value <= most else None
