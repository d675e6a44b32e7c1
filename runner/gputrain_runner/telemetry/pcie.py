"""PCIe traffic of a GPU in bytes per second: from GPM, from byte counters, or the driver's 20 ms window."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import gpm
from .driver import UNSIGNED_INT, DriverError, Kind
from .question import Question, Values

TX_FIELD, RX_FIELD = 197, 198
"""NVML_FI_DEV_PCIE_COUNT_TX_BYTES and _RX_BYTES. Directions are the GPU's: rx is host to device."""
_TX_WINDOW, _RX_WINDOW = 0, 1
"""NVML_PCIE_UTIL_TX_BYTES and _RX_BYTES."""
BYTES_PER_KB = 1000
"""The 20 ms window is in "KB/s". NVML says KiB and MiB where it means powers of two, so this is 1000;
should it be 1024 after all, the rate is shown 2.3 % too low, far less than a 20 ms window is off."""

FIELDS = ("pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s", "pcie_source")

_LANE_BYTES_PER_S = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9, 7: 15.125e9}
"""Per lane and direction, by generation, after line coding (PCI-SIG)."""
_FASTEST_BYTES_PER_S = 16 * _LANE_BYTES_PER_S[7]
_WRAP = 2**32
_LONGEST_ANSWER = 0.25
"""Of the time between two states of the counters: an answer that takes longer comes from a busy host or
driver, and may be as old as that."""


def link_bytes_per_s(generation: int | None, width: int | None) -> float | None:
    """What a link can carry one way; None where generation or width is unknown."""
    lane = _LANE_BYTES_PER_S.get(generation or 0)
    return lane * width if lane is not None and width else None


@dataclass(frozen=True, slots=True)
class Counts:
    """Both counters at one moment."""

    at_s: float
    tx: int
    rx: int
    wraps: bool
    """They are 32 bits wide."""


def moved(before: int, after: int, wraps: bool) -> int | None:
    """Bytes between two states of a counter; None where it went down, as after a reset of the GPU."""
    if wraps:
        return (after - before) % _WRAP
    return after - before if after >= before else None


def rates(before: Counts, after: Counts, link: float) -> tuple[float | None, float | None]:
    """Bytes per second (tx, rx) between two states on a link of `link` bytes per second.

    A 32-bit counter may have gone round unseen when the link could carry 4 GiB in the time between:
    then, and where a rate is beyond any link, it is None.
    """
    elapsed_s = after.at_s - before.at_s
    if elapsed_s <= 0 or (after.wraps and link * elapsed_s >= _WRAP):
        return None, None

    def rate(first: int, last: int) -> float | None:
        count = moved(first, last, after.wraps)
        if count is None or count > _FASTEST_BYTES_PER_S * elapsed_s:
            return None
        return float(round(count / elapsed_s))

    return rate(before.tx, after.tx), rate(before.rx, after.rx)


def from_gpm(question: Question) -> Values:
    """The mean between two snapshots, which were taken for GPM's other figures: free, and exact.

    Refused for good before Hopper.
    """
    tx, rx = (gpm.rate(question, metric, _FASTEST_BYTES_PER_S) for metric in (gpm.PCIE_TX, gpm.PCIE_RX))
    known = tx is not None or rx is not None
    return {
        "pcie_tx_bytes_per_s": tx,
        "pcie_rx_bytes_per_s": rx,
        "pcie_source": "gpm" if known else None,
    }


def from_byte_counters(question: Question) -> Values:
    """The mean since the last asking, from counters that run all the time: nothing is missed, and cheap.

    Refused for good (so that the next way is taken) where the counters are 32 bits wide and the link
    could send them round between two askings.
    """
    asked_s = question.clock()
    tx, rx = question.driver.field_values(question.handle, TX_FIELD, RX_FIELD)
    took_s = question.clock() - asked_s
    before: Counts | None = question.notes.get("counts")
    if before is not None and took_s > _LONGEST_ANSWER * (asked_s - before.at_s):
        return {}  # When it counted is not known well enough: the next answer covers this time too.
    at_s = asked_s + took_s / 2
    after = Counts(at_s, int(tx.number), int(rx.number), _wraps(tx.value_type, rx.value_type, question))
    if before is not None and not after.wraps and _went_round(before, after):
        # Some cards hand out 32-bit counters in 64-bit values.
        question.notes["narrow"] = True
        after = Counts(after.at_s, after.tx, after.rx, wraps=True)
    link = _link(question.known)
    if after.wraps and link * question.every_s >= _WRAP:
        raise DriverError(Kind.UNSUPPORTED, "the byte counters are too narrow for this link")
    question.notes["counts"] = after
    if before is None:
        return dict.fromkeys(FIELDS)
    tx_rate, rx_rate = rates(before, after, link)
    return {
        "pcie_tx_bytes_per_s": tx_rate,
        "pcie_rx_bytes_per_s": rx_rate,
        "pcie_source": "byte_counters",
    }


def from_window(question: Question) -> Values:
    """What crossed the link during 20 ms inside each call: costly, and most of the time is not looked at."""
    tx, rx = (
        _kb_per_s(question.driver.call("nvmlDeviceGetPcieThroughput", question.handle, direction))
        for direction in (_TX_WINDOW, _RX_WINDOW)
    )
    return {"pcie_tx_bytes_per_s": tx, "pcie_rx_bytes_per_s": rx, "pcie_source": "20_ms_window"}


def _kb_per_s(value: int) -> float | None:
    rate = float(value) * BYTES_PER_KB
    return rate if rate <= _FASTEST_BYTES_PER_S else None


def _wraps(tx_type: int, rx_type: int, question: Question) -> bool:
    return UNSIGNED_INT in (tx_type, rx_type) or bool(question.notes.get("narrow"))


def _went_round(before: Counts, after: Counts) -> bool:
    fell = after.tx < before.tx or after.rx < before.rx
    return fell and max(before.tx, before.rx, after.tx, after.rx) < _WRAP


def _link(known: Mapping[str, Any]) -> float:
    """The link's top speed; the fastest there is where the driver does not tell."""
    link = link_bytes_per_s(known.get("pcie_generation_max"), known.get("pcie_width_max"))
    return link if link is not None else _FASTEST_BYTES_PER_S
