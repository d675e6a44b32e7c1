"""What is asked of each GPU. A metric is added by adding an entry to `METRICS`.

Units are changed here, and what cannot be is dropped: drivers answer some questions with success and
a value that was never written (0xFFFFFFFF, 0 bytes of memory, link generation 0).
"""

from __future__ import annotations

from . import pcie
from .question import Ask, Metric, Question, Tier, Values, Way
from .reasons import decode

_SM_CLOCK, _MEMORY_CLOCK = 1, 2
"""NVML_CLOCK_SM and NVML_CLOCK_MEM."""
_GPU_SENSOR = 0
"""NVML_TEMPERATURE_GPU."""
_POWER_INSTANT = 186
"""NVML_FI_DEV_POWER_INSTANT, in mW. Its neighbour 185, the mean over a second, takes milliseconds."""
_MEMORY_V2 = 0x02000028
"""The size and version of nvmlMemory_v2_t."""

_MOST_POWER_MW = 10_000_000
_MOST_MEMORY_BYTES = 2**50
_MOST_CLOCK_MHZ = 100_000


def _within(value: int, low: int, high: int) -> int | None:
    return value if low <= value <= high else None


def _number(field: str, function: str, *arguments: object, low: int, high: int) -> Ask:
    """A whole number as it is, where it lies within the limits."""

    def ask(question: Question) -> Values:
        value = int(question.driver.call(function, question.handle, *arguments))
        return {field: _within(value, low, high)}

    return ask


def _watts(field: str, function: str, low_mw: int = 0) -> Ask:
    def ask(question: Question) -> Values:
        milliwatts = int(question.driver.call(function, question.handle))
        return {field: _in_watts(milliwatts, low_mw)}

    return ask


def _in_watts(milliwatts: int, low_mw: int = 0) -> float | None:
    return milliwatts / 1000 if low_mw <= milliwatts <= _MOST_POWER_MW else None


def _power_instant(question: Question) -> Values:
    (power,) = question.driver.field_values(question.handle, _POWER_INSTANT)
    return {"power_w": _in_watts(int(power.number))}


def _text(field: str, function: str) -> Ask:
    def ask(question: Question) -> Values:
        return {field: str(question.driver.call(function, question.handle)) or None}

    return ask


def _utilisation(question: Question) -> Values:
    percent = int(question.driver.call("nvmlDeviceGetUtilizationRates", question.handle).gpu)
    return {"utilisation": percent / 100 if 0 <= percent <= 100 else None}


def _memory(*version: int) -> Ask:
    """Version 2 keeps what the driver reserves for itself out of `used`; without a version it is in."""

    def ask(question: Question) -> Values:
        memory = question.driver.call("nvmlDeviceGetMemoryInfo", question.handle, *version)
        total = _within(int(memory.total), 1, _MOST_MEMORY_BYTES)
        used = _within(int(memory.used), 0, total) if total is not None else None
        return {"memory_used_bytes": used, "memory_total_bytes": total}

    return ask


def _throttle(function: str) -> Ask:
    def ask(question: Question) -> Values:
        return {"throttle": decode(int(question.driver.call(function, question.handle)))}

    return ask


def _metric(fields: tuple[str, ...] | str, tier: Tier, *asks: Ask) -> Metric:
    names = (fields,) if isinstance(fields, str) else fields
    return Metric(names[0], names, tuple(Way(ask, tier) for ask in asks))


def _clock(field: str, function: str, domain: int, tier: Tier, low: int = 0) -> Metric:
    return _metric(field, tier, _number(field, function, domain, low=low, high=_MOST_CLOCK_MHZ))


def _generation(field: str, function: str, tier: Tier) -> Metric:
    return _metric(field, tier, _number(field, function, low=1, high=9))


def _width(field: str, function: str, tier: Tier) -> Metric:
    return _metric(field, tier, _number(field, function, low=1, high=32))


METRICS: tuple[Metric, ...] = (
    _metric("uuid", Tier.ONCE, _text("uuid", "nvmlDeviceGetUUID")),
    _metric("name", Tier.ONCE, _text("name", "nvmlDeviceGetName")),
    # What card and slot together allow; the byte counters below need to know it.
    _generation("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration", Tier.ONCE),
    _width("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth", Tier.ONCE),
    _clock("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", _SM_CLOCK, Tier.ONCE, low=1),
    _metric("utilisation", Tier.FAST, _utilisation),
    _metric(("memory_used_bytes", "memory_total_bytes"), Tier.FAST, _memory(_MEMORY_V2), _memory()),
    _metric("power_w", Tier.FAST, _power_instant, _watts("power_w", "nvmlDeviceGetPowerUsage")),
    _clock("sm_clock_mhz", "nvmlDeviceGetClockInfo", _SM_CLOCK, Tier.FAST),
    Metric(
        "pcie",
        pcie.FIELDS,
        (Way(pcie.from_byte_counters, Tier.FAST), Way(pcie.from_window, Tier.SLOW)),
    ),
    _metric(
        "temperature_c",
        Tier.SECOND,
        _number("temperature_c", "nvmlDeviceGetTemperatureV", _GPU_SENSOR, low=-50, high=250),
        _number("temperature_c", "nvmlDeviceGetTemperature", _GPU_SENSOR, low=-50, high=250),
    ),
    # Renamed in R535; the older name still answers there, and is deprecated.
    _metric(
        "throttle",
        Tier.SECOND,
        _throttle("nvmlDeviceGetCurrentClocksEventReasons"),
        _throttle("nvmlDeviceGetCurrentClocksThrottleReasons"),
    ),
    _clock("memory_clock_mhz", "nvmlDeviceGetClockInfo", _MEMORY_CLOCK, Tier.SLOW),
    _generation("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration", Tier.SLOW),
    _width("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth", Tier.SLOW),
    _metric(
        "power_limit_w",
        Tier.SLOW,
        _watts("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", low_mw=1),
        _watts("power_limit_w", "nvmlDeviceGetPowerManagementLimit", low_mw=1),
    ),
)
"""Every metric, in the order in which it is asked."""
