"""Parts that a simulated GPU is put together from, in the units of daily life; the driver's are inside."""

from __future__ import annotations

from collections.abc import Mapping

from .waves import Number, Value, counter

Card = dict[str, Value]
"""What a GPU answers: keys of the scenario file, without the GPU's own prefix."""

GIB = 2**30
MIB = 2**20
KIB = 2**10

UNSIGNED_INT = 1
"""NVML_VALUE_TYPE_UNSIGNED_INT."""

GPM = {
    "graphics": 1,
    "sm_active": 2,
    "sm_occupancy": 3,
    "tensor_active": 5,
    "dram_active": 10,
    "fp64": 11,
    "fp32": 12,
    "fp16": 13,
    "pcie_tx": 20,
    "pcie_rx": 21,
    "nvlink_rx": 60,
    "nvlink_tx": 61,
}
"""NVML_GPM_METRIC_*: shares in percent, traffic in MiB/s."""

_REASONS = {
    "idle": 0x1,
    "application_clocks": 0x2,
    "sw_power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20,
    "hw_thermal_slowdown": 0x40,
    "hw_power_brake": 0x80,
    "display_clocks": 0x100,
    "board_limit": 0x200,
    "reliability": 0x400,
}
"""nvmlClocksEventReason*."""

_THROTTLE_COUNTERS = {
    "sw_power_cap": 74,
    "sync_boost": 76,
    "board_limit": 77,
    "reliability": 79,
    "sw_thermal_slowdown": 269,
    "hw_thermal_slowdown": 270,
    "hw_power_brake": 271,
}
"""NVML_FI_DEV_PERF_POLICY_* and NVML_FI_DEV_CLOCKS_EVENT_REASON_*: nanoseconds."""


def card(*parts: Mapping[str, Value | None], **more: Value | None) -> Card:
    """One GPU of these parts: the later goes before the earlier, and None takes a key out."""
    together: dict[str, Value | None] = {}
    for part in (*parts, more):
        together.update(part)
    return {key: value for key, value in together.items() if value is not None}


def without(whole: Card, *keys: str) -> Card:
    """A card that does not answer these; `field.*` stands for all that begin so."""

    def taken(key: str) -> bool:
        return any(key == name or (name.endswith("*") and key.startswith(name[:-1])) for name in keys)

    return {key: value for key, value in whole.items() if not taken(key)}


def identity(name: str, capability: str | None = None, bus: int | None = None) -> Card:
    """Its name, compute capability ("9.0") and number on the PCI bus."""
    bus_id = None if bus is None else f"00000000:{bus:02X}:00.0"
    return card({"name": name, "compute_capability": capability, "pci_bus_id": bus_id})


def utilisation(
    percent: Value, memory_percent: Value | None = None, samples_per_s: Number | None = None
) -> Card:
    """Whether a kernel runs; with the driver's own samples where there are some."""
    return card(
        utilisation_percent=percent, memory_utilisation_percent=memory_percent, samples_per_s=samples_per_s
    )


def memory(total: int, used: Value, reserved: int = 0) -> Card:
    """Bytes; `used` is without what the driver reserves for itself."""
    return {"memory_total_bytes": total, "memory_used_bytes": used, "memory_reserved_bytes": reserved}


def power(watts: float, limit_w: float | None = None, instant_w: float | None = None) -> Card:
    """The mean of a second, the limit that holds, and the power of the instant where it is told."""
    instant = {} if instant_w is None else field(186, round(1000 * instant_w), UNSIGNED_INT)
    limit_mw = None if limit_w is None else round(1000 * limit_w)
    return card(instant, power_mw=round(1000 * watts), power_limit_mw=limit_mw)


def temperatures(gpu_c: int, memory_c: int | None = None, slowdown_c: int | None = None) -> Card:
    """Of the die, of the memory, and where the card slows down."""
    of_memory = {} if memory_c is None else field(82, memory_c, UNSIGNED_INT)
    return card(of_memory, temperature_c=gpu_c, temperature_slowdown_c=slowdown_c)


def clocks(
    sm_mhz: Value,
    sm_max_mhz: int | None = None,
    memory_mhz: int | None = None,
    memory_max_mhz: int | None = None,
) -> Card:
    """Now, and at most."""
    return card(
        sm_clock_mhz=sm_mhz,
        sm_clock_max_mhz=sm_max_mhz,
        memory_clock_mhz=memory_mhz,
        memory_clock_max_mhz=memory_max_mhz,
    )


def link(
    generation: Value,
    width: Value,
    slot_generation: int | None = None,
    slot_width: int | None = None,
    card_generation: int | None = None,
) -> Card:
    """The PCIe link as it is; the best that slot and card together allow, and the card alone (as it is)."""
    best = generation if slot_generation is None else slot_generation
    return card(
        pcie_generation=generation,
        pcie_width=width,
        pcie_generation_max=best,
        pcie_width_max=width if slot_width is None else slot_width,
        pcie_generation_gpu_max=best if card_generation is None else card_generation,
    )


def window(rx_bytes_per_s: int, tx_bytes_per_s: int, takes_ms: Number = 20) -> Card:
    """PCIe traffic by the call that looks on for 20 ms per direction."""
    return {
        "pcie_rx_kb_per_s": rx_bytes_per_s // 1000,
        "pcie_tx_kb_per_s": tx_bytes_per_s // 1000,
        "nvmlDeviceGetPcieThroughput.delay_ms": takes_ms,
    }


def byte_counters(
    rx_bytes_per_s: Value, tx_bytes_per_s: Value, rx_start: int = 0, tx_start: int = 0, bits: int = 64
) -> Card:
    """PCIe traffic by counters; those of 32 bits say so by their value type."""
    value_type = None if bits == 64 else UNSIGNED_INT
    return {
        **field(197, counter(tx_bytes_per_s, tx_start, bits), value_type),
        **field(198, counter(rx_bytes_per_s, rx_start, bits), value_type),
    }


def field(number: int, value: Value, value_type: int | None = None) -> Card:
    """A field value (NVML_FI_*), 64 bits wide unless told."""
    return card({f"field.{number}": value, f"field.{number}.type": value_type})


def gpm(*, rx_bytes_per_s: float | None = None, tx_bytes_per_s: float | None = None, **shares: float) -> Card:
    """GPM: shares 0..1 by the names in `GPM`, PCIe (and `nvlink_rx`, `nvlink_tx`) in bytes per second."""
    traffic = {"pcie_rx": rx_bytes_per_s, "pcie_tx": tx_bytes_per_s}
    traffic |= {name: shares.pop(name, None) for name in ("nvlink_rx", "nvlink_tx")}
    rates = {f"gpm.{GPM[name]}": value / MIB for name, value in traffic.items() if value is not None}
    percents = {f"gpm.{GPM[name]}": 100 * value for name, value in shares.items()}
    return {"gpm": 1, **rates, **percents}


def throttle(*reasons: str) -> Card:
    """What holds the clocks back, by the names that the program shows."""
    return {"clock_event_reasons": sum(_REASONS[reason] for reason in reasons)}


def throttle_seconds(**shares: float) -> Card:
    """Counters of the time held back by a reason: the share of wall time by which each runs (all do)."""
    parts: Card = {}
    for name, number in _THROTTLE_COUNTERS.items():
        parts |= field(number, counter(1e9 * shares.get(name, 0.0)))
    return parts


def states(
    performance: int | None = None,
    persistence: bool | None = None,
    compute_mode: int | None = None,
    fan_percent: Value | None = None,
    mig: bool | None = None,
    driver_model: int | None = None,
    virtualisation: int | None = None,
) -> Card:
    """Modes of the card; NVML's numbers where there are more than two."""
    return card(
        performance_state=performance,
        persistence_mode=persistence if persistence is None else int(persistence),
        compute_mode=compute_mode,
        fan_percent=fan_percent,
        fans=None if fan_percent is None else 1,
        mig_mode=mig if mig is None else int(mig),
        driver_model=driver_model,
        virtualization_mode=virtualisation,
    )


def ecc(corrected: Value = 0, uncorrected: Value = 0, remapped: int = 0, enabled: bool = True) -> Card:
    """Memory errors since the driver was loaded (in all as many), and rows taken out of use."""
    return {
        "ecc_mode": int(enabled),
        "ecc.corrected.volatile": corrected,
        "ecc.uncorrected.volatile": uncorrected,
        "ecc.corrected.aggregate": corrected,
        "ecc.uncorrected.aggregate": uncorrected,
        "remapped_rows_uncorrected": remapped,
    }


def processes(compute: Mapping[int, int | None], graphics: Mapping[int, int | None] | None = None) -> Card:
    """Memory in bytes by process id; None where the driver cannot tell it."""
    return card(
        compute_processes=_rows(compute), graphics_processes=None if graphics is None else _rows(graphics)
    )


def _rows(processes: Mapping[int, int | None]) -> str:
    return " ".join(f"{pid}:{'none' if size is None else size}" for pid, size in processes.items())


def costing(**ms: Number) -> Card:
    """How long functions take, in milliseconds; `nvmlDevice` may be left out of their names."""
    return {f"{function_name(name)}.delay_ms": value for name, value in ms.items()}


def failing(**codes: Value) -> Card:
    """Error codes by function, as in `costing`."""
    return {f"{function_name(name)}.error": code for name, code in codes.items()}


def hanging(*functions: str) -> Card:
    """Functions that do not return, as in `costing`."""
    return {f"{function_name(name)}.hang": 1 for name in functions}


def function_name(name: str) -> str:
    """A function's whole name."""
    return name if name.startswith("nvml") else f"nvmlDevice{name}"


def mig(*devices: Card, most: int = 7) -> Card:
    """A card split into these MIG devices, each with a GPU instance of its own."""
    parts: Card = {"mig_mode": 1, "mig_devices_max": most}
    for at, device in enumerate(devices):
        own = {"gpu_instance": at + 1, "compute_instance": 0, **device}
        parts |= {f"mig{at}.{key}": value for key, value in own.items()}
    return parts
