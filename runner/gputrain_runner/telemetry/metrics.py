"""What is asked of each GPU. A metric is added by adding an entry to `METRICS`.

Units are changed here, and what cannot be is dropped: drivers answer some questions with success and
a value that was never written (0xFFFFFFFF, 0 bytes of memory, link generation 0).
"""

from __future__ import annotations

from . import faults, gpm, gpu_processes, memory, modes, nvlink, pcie, pcie_link, throttling, utilisation
from .question import Ask, Metric, Question, Tier, Values, Way
from .reasons import decode

_SM_CLOCK, _MEMORY_CLOCK = 1, 2
"""NVML_CLOCK_SM and NVML_CLOCK_MEM."""
_GPU_SENSOR = 0
"""NVML_TEMPERATURE_GPU."""
_POWER_INSTANT = 186
"""NVML_FI_DEV_POWER_INSTANT, in mW. Its neighbour 185, the mean over a second, takes milliseconds."""
_MEMORY_TEMPERATURE = 82
"""NVML_FI_DEV_MEMORY_TEMP, in °C."""

_MOST_POWER_MW = 10_000_000
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


def _memory_temperature(question: Question) -> Values:
    (temperature,) = question.driver.field_values(question.handle, _MEMORY_TEMPERATURE)
    # 0 is what a card without such a sensor answers.
    return {"memory_temperature_c": _within(int(temperature.number), 1, 250)}


def _fan(question: Question) -> Values:
    percent = int(question.driver.call("nvmlDeviceGetFanSpeed", question.handle))
    # Above 100 is possible: of the speed it was made for.
    return {"fan": percent / 100 if 0 <= percent <= 200 else None}


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
    _metric("pci_bus_id", Tier.ONCE, modes.pci_bus_id),
    _metric("compute_capability", Tier.ONCE, modes.compute_capability),
    # What card and slot together allow; the byte counters below need to know it.
    _generation("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration", Tier.ONCE),
    _width("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth", Tier.ONCE),
    _generation("pcie_generation_gpu_max", "nvmlDeviceGetGpuMaxPcieLinkGeneration", Tier.ONCE),
    _clock("sm_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", _SM_CLOCK, Tier.ONCE, low=1),
    _clock("memory_clock_max_mhz", "nvmlDeviceGetMaxClockInfo", _MEMORY_CLOCK, Tier.ONCE, low=1),
    _metric(
        "virtualisation",
        Tier.ONCE,
        modes.named("virtualisation", "nvmlDeviceGetVirtualizationMode", modes.VIRTUALISATION),
    ),
    _metric(
        "driver_model",
        Tier.ONCE,
        modes.driver_model("nvmlDeviceGetDriverModel_v2"),
        modes.driver_model("nvmlDeviceGetDriverModel_v1"),
    ),
    _metric("utilisation", Tier.FAST, utilisation.from_samples, utilisation.from_rates),
    _metric(memory.FIELDS, Tier.FAST, memory.from_version_2, memory.from_version_1, memory.from_host),
    _metric("power_w", Tier.FAST, _power_instant, _watts("power_w", "nvmlDeviceGetPowerUsage")),
    _clock("sm_clock_mhz", "nvmlDeviceGetClockInfo", _SM_CLOCK, Tier.FAST),
    Metric("gpm", gpm.FIELDS, (Way(gpm.from_snapshots, Tier.FAST),)),
    # After GPM, whose figures they may take.
    Metric(
        "pcie",
        pcie.FIELDS,
        (
            Way(pcie.from_gpm, Tier.FAST),
            Way(pcie.from_byte_counters, Tier.FAST),
            Way(pcie.from_window, Tier.SLOW),
        ),
    ),
    Metric(
        "nvlink", nvlink.FIELDS, (Way(nvlink.from_gpm, Tier.FAST), Way(nvlink.from_counters, Tier.SECOND))
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
    _metric(throttling.FIELDS, Tier.SECOND, throttling.from_counters),
    _clock("memory_clock_mhz", "nvmlDeviceGetClockInfo", _MEMORY_CLOCK, Tier.SLOW),
    _generation("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration", Tier.SLOW),
    _width("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth", Tier.SLOW),
    # After what the link is now.
    _metric(pcie_link.FIELDS, Tier.SLOW, pcie_link.top),
    _metric(
        "power_limit_w",
        Tier.SLOW,
        _watts("power_limit_w", "nvmlDeviceGetEnforcedPowerLimit", low_mw=1),
        _watts("power_limit_w", "nvmlDeviceGetPowerManagementLimit", low_mw=1),
    ),
    _metric("memory_temperature_c", Tier.SLOW, _memory_temperature),
    _metric("fan", Tier.SLOW, _fan),
    # 32 is "unknown".
    _metric(
        "performance_state",
        Tier.SLOW,
        _number("performance_state", "nvmlDeviceGetPerformanceState", low=0, high=15),
    ),
    _metric(gpu_processes.FIELDS, Tier.SLOW, gpu_processes.ask("_v3"), gpu_processes.ask("_v2")),
    _metric("xid_errors", Tier.SLOW, faults.xid_errors),
    _metric("persistence", Tier.RARE, modes.flag("persistence", "nvmlDeviceGetPersistenceMode")),
    _metric(
        "compute_mode",
        Tier.RARE,
        modes.named("compute_mode", "nvmlDeviceGetComputeMode", modes.COMPUTE_MODES),
    ),
    _metric("mig_mode", Tier.RARE, modes.first_flag("mig_mode", "nvmlDeviceGetMigMode")),
    _metric("ecc_mode", Tier.RARE, modes.first_flag("ecc_mode", "nvmlDeviceGetEccMode")),
    _metric("ecc_corrected", Tier.RARE, faults.ecc("ecc_corrected", faults.CORRECTED)),
    _metric("ecc_uncorrected", Tier.RARE, faults.ecc("ecc_uncorrected", faults.UNCORRECTED)),
    _metric(faults.REMAPPED, Tier.RARE, faults.remapped_rows),
    _metric(
        "retired_pages_pending",
        Tier.RARE,
        modes.flag("retired_pages_pending", "nvmlDeviceGetRetiredPagesPendingStatus"),
    ),
    _metric("pcie_replays", Tier.RARE, faults.pcie_replays),
)
"""Every metric, in the order in which it is asked."""

OF_MIG_DEVICES = frozenset({"uuid", "name", "memory_used_bytes", "gpm", "processes"})
"""The metrics, by name, that a MIG device has of its own; the rest is the whole GPU's."""
