"""NVLink traffic of a GPU in bytes per second, over all of its links: from GPM, else from counters."""

from __future__ import annotations

from . import gpm
from .driver import DriverError, FieldValue
from .question import Question, Values

FIELDS = ("nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s")
_ALL_LINKS = 0xFFFFFFFF
_TX, _RX = (138, _ALL_LINKS), (139, _ALL_LINKS)
"""NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX and _RX: KiB of payload."""
_BYTES_PER_KIB = 1024
_FASTEST_BYTES_PER_S = 2e12
"""Well above the 0.9 TB/s one way of the fastest so far."""


def from_gpm(question: Question) -> Values:
    """From the performance counters, where the GPU has them and links."""
    tx, rx = (gpm.rate(question, metric, _FASTEST_BYTES_PER_S) for metric in (gpm.NVLINK_TX, gpm.NVLINK_RX))
    return dict(zip(FIELDS, (tx, rx), strict=True))


def from_counters(question: Question) -> Values:
    """The means since the last asking."""
    answers = question.driver.fields_apart(question.handle, (_TX, _RX))
    counts = []
    for field in (_TX, _RX):
        answer = answers[field]
        if isinstance(answer, DriverError):
            raise answer
        assert isinstance(answer, FieldValue)
        counts.append(int(answer.number))
    now_s = question.clock()
    before: tuple[float, list[int]] | None = question.notes.get("before")
    question.notes["before"] = (now_s, counts)
    if before is None or now_s <= before[0]:
        return dict.fromkeys(FIELDS)
    elapsed_s = now_s - before[0]
    rates = [
        _plausible((now - then) * _BYTES_PER_KIB / elapsed_s)
        for then, now in zip(before[1], counts, strict=True)
    ]
    return dict(zip(FIELDS, rates, strict=True))


def _plausible(rate: float) -> float | None:
    """A counter that went down was reset."""
    return float(round(rate)) if 0 <= rate <= _FASTEST_BYTES_PER_S else None
