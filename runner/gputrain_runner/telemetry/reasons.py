"""The clock-event (throttle) reasons: the driver's bits as names."""

from __future__ import annotations

NAMES = {
    0x1: "idle",
    0x2: "application_clocks",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake",
    0x100: "display_clocks",
    # The two newest are not in every version of the binding.
    0x200: "board_limit",
    0x400: "reliability",
}
"""nvmlClocksEventReason*, by bit."""

_HIGHEST_BIT = 31
"""Beyond this is no reason but a value that was never written."""


def decode(bits: int) -> list[str] | None:
    """The names of the bits set, lowest first; [] where nothing holds the clocks back; None for garbage.

    A bit newer than this program is named after its number.
    """
    if not 0 <= bits < 2**_HIGHEST_BIT:
        return None
    return [
        NAMES.get(1 << position, f"reason_bit_{position}")
        for position in range(_HIGHEST_BIT)
        if bits >> position & 1
    ]
