"""Why a GPU's clocks are lower than they could be, in words and with since when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from gputrain_runner.timeline import Gpu

from . import format

FLICKER_S = 3.0
"""A reason that was gone for no longer than this never went: drivers report the moment alone."""
NEAR_LIMIT = 0.9
"""From this share of its power limit on, a GPU is at full load."""
SLIGHT = 0.01
"""A reason that held for a smaller share of the last second is not worth a word."""

Weight = Literal["normal", "note", "warning"]
"""Whether it is as it should be, worth knowing, or in need of attention."""


@dataclass(frozen=True, slots=True)
class Slowdown:
    """One reason, as a line for people."""

    reason: str
    """The driver's name for it, as in a sample's `throttle`."""
    text: str
    weight: Weight


class SlowdownWatch:
    """Follows one GPU's reasons from sample to sample: which hold, and since when."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._now_s = 0.0
        self._known = False

    def take(self, t_s: float, gpu: Gpu) -> None:
        """Take in what a sample of second `t_s` says."""
        self._now_s = t_s
        self._known = gpu.throttle is not None
        for reason in _reasons(gpu):
            self._since.setdefault(reason, t_s)
            self._last[reason] = t_s
        for reason in [name for name, last_s in self._last.items() if t_s - last_s > FLICKER_S]:
            del self._since[reason], self._last[reason]

    @property
    def known(self) -> bool:
        """Whether the driver tells reasons at all."""
        return self._known

    def told(self, gpu: Gpu) -> list[Slowdown]:
        """What holds now, the most worrying first; `gpu`: its values now."""
        found = [
            Slowdown(reason, *_words(reason, since_s, self._now_s, gpu))
            for reason, since_s in self._since.items()
            if not (reason == "hw_slowdown" and _EXPLAINS_HARDWARE & self._since.keys())
        ]
        return sorted(found, key=lambda each: ("warning", "note", "normal").index(each.weight))


_EXPLAINS_HARDWARE = {"hw_thermal_slowdown", "hw_power_brake"}
"""The general `hw_slowdown` comes along with these and tells less."""


def _reasons(gpu: Gpu) -> Iterator[str]:
    yield from gpu.throttle or ()
    yield from (reason for reason, share in (gpu.throttled or {}).items() if share >= SLIGHT)


def _words(reason: str, since_s: float, now_s: float, gpu: Gpu) -> tuple[str, Weight]:
    since = f"since {format.clock(since_s)}"
    write = _WORDS.get(reason)
    if write is None:
        return f"{reason.replace('_', ' ')} {since}: a reason this program does not know", "note"
    return write(gpu, since, format.lasting(now_s - since_s))


def _power_cap(gpu: Gpu, since: str, lasting: str) -> tuple[str, Weight]:
    draws, limit = gpu.power_w, gpu.power_limit_w
    if draws is None or not limit or draws >= NEAR_LIMIT * limit:
        return f"power cap for {lasting}: normal at full load", "normal"
    return f"power cap {since}, though it draws {draws:,.0f} of {limit:,.0f} W", "warning"


def _heat(cause: str) -> Callable[[Gpu, str, str], tuple[str, Weight]]:
    def words(gpu: Gpu, since: str, lasting: str) -> tuple[str, Weight]:
        return f"{cause}: {_clock(gpu)} {since}", "warning"

    return words


def _held(cause: str) -> Callable[[Gpu, str, str], tuple[str, Weight]]:
    def words(gpu: Gpu, since: str, lasting: str) -> tuple[str, Weight]:
        return f"{cause}: {_clock(gpu)} {since}", "note"

    return words


def _idle(gpu: Gpu, since: str, lasting: str) -> tuple[str, Weight]:
    return f"idle for {lasting}: low clocks, as nothing runs", "normal"


def _clock(gpu: Gpu) -> str:
    now, most = gpu.sm_clock_mhz, gpu.sm_clock_max_mhz
    if now is None:
        return "clocks lowered"
    return f"SM clock {now:,} MHz" if most is None else f"SM clock {now:,} of {most:,} MHz"


_WORDS: dict[str, Callable[[Gpu, str, str], tuple[str, Weight]]] = {
    "idle": _idle,
    "application_clocks": _held("clocks set by hand"),
    "sw_power_cap": _power_cap,
    "hw_slowdown": _heat("slowed by the hardware, heat or power"),
    "sync_boost": _held("kept in step with other GPUs"),
    "sw_thermal_slowdown": _heat("thermal"),
    "hw_thermal_slowdown": _heat("thermal, by the hardware itself"),
    "hw_power_brake": _heat("power brake from outside the card"),
    "display_clocks": _held("clocks set by the display"),
    "board_limit": _held("limit of the board"),
    "reliability": _held("limit of the voltage"),
}
SHORT = {
    "idle": "idle",
    "application_clocks": "set by hand",
    "sw_power_cap": "power cap",
    "hw_slowdown": "hardware",
    "sync_boost": "sync boost",
    "sw_thermal_slowdown": "thermal",
    "hw_thermal_slowdown": "thermal",
    "hw_power_brake": "power brake",
    "display_clocks": "display",
    "board_limit": "board limit",
    "reliability": "voltage",
}
"""In one or two words, for a table."""
