"""Checks of what holds the clocks back: throttle reasons and the power limit."""

from __future__ import annotations

from ..facts import Facts, GpuFacts
from ..unit import NOT_TOLD, GpuUnit, Result, note, ok, problem

_NORMAL = {
    "idle": "idle",
    "sw_power_cap": "at its power limit, which is normal at full load",
}
_COOL = "see to its cooling: fans, dust, the air around it, a laptop's power profile"
_PROBLEMS = {
    "hw_thermal_slowdown": ("too hot: the hardware lowers the clocks", _COOL),
    "sw_thermal_slowdown": ("too hot: the driver lowers the clocks", _COOL),
    "hw_power_brake": (
        "the power supply or the server's power brake lowers the clocks",
        "look at the power cables, the supply's rating and the server's power management",
    ),
    "hw_slowdown": (
        "the hardware lowers the clocks (heat, or too little power)",
        f"{_COOL}; then power cables and supply",
    ),
}
_NOTES = {
    "application_clocks": ("application clocks hold it below its highest", "`sudo nvidia-smi -rac`"),
    "sync_boost": ("the slowest GPU of its sync boost group holds it back", None),
    "display_clocks": ("the clocks of its display hold it back", None),
    "board_limit": ("the board's voltage or power limit holds it back", None),
    "reliability": ("the voltage that is safe for it holds it back", None),
}


def _throttle(_facts: Facts, gpu: GpuFacts) -> Result | None:
    reasons = gpu.busiest.throttle
    if gpu.lost:
        return None
    if reasons is None:
        return NOT_TOLD
    # The one that says what to do goes first; hw_slowdown is set along with its own causes.
    for reason, (found, do) in _PROBLEMS.items():
        if reason in reasons:
            return problem(f"{found} ({_state(gpu)})", do)
    for reason in reasons:
        if reason not in _NORMAL:
            found, advice = _NOTES.get(
                reason, (f"held back by {reason}, a reason newer than this program", None)
            )
            return note(f"{found} ({_state(gpu)})", advice)
    said = [_NORMAL[reason] for reason in reasons]
    return ok(f"{' and '.join(said) or 'nothing holds the clocks back'} ({_state(gpu)})")


def _state(gpu: GpuFacts) -> str:
    """Clock, temperature and power as they were."""
    now = gpu.busiest
    parts = []
    if now.sm_clock_mhz is not None:
        most = "" if now.sm_clock_max_mhz is None else f" of {now.sm_clock_max_mhz}"
        parts.append(f"{now.sm_clock_mhz}{most} MHz")
    if now.temperature_c is not None:
        parts.append(f"{now.temperature_c} °C")
    if now.power_w is not None:
        parts.append(f"{now.power_w:.0f} W")
    return ", ".join(parts) or "n/a"


def _power_limit(_facts: Facts, gpu: GpuFacts) -> Result | None:
    limit, usual = gpu.gpu.power_limit_w, gpu.power_limit_default_w
    if gpu.lost:
        return None
    if limit is None:
        return NOT_TOLD
    if usual is not None and limit < 0.98 * usual:
        return note(
            f"{limit:.0f} W, lowered from the card's {usual:.0f} W",
            f"`sudo nvidia-smi -i {gpu.gpu.index} -pl {usual:.0f}`, where supply and cooling allow it",
        )
    return ok(f"{limit:.0f} W" + (", the card's own" if usual is not None and limit <= usual else ""))


UNITS = (
    GpuUnit("throttle", "throttle", _throttle),
    GpuUnit("power_limit", "power limit", _power_limit),
)
