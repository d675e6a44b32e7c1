"""GPUs for the simulated driver: what each kind of card answers. What a card has no key for, it refuses.

A card is put together from parts, the later going before the earlier: `card(H200, power(650, 700))`.
Keys that no part has (numbers.c, structures.c and lists.c tell them) are added by name: `brand=17`.
"""

from __future__ import annotations

from .parts import (
    GIB,
    MIB,
    Card,
    byte_counters,
    card,
    clocks,
    costing,
    ecc,
    field,
    gpm,
    identity,
    link,
    memory,
    mig,
    power,
    states,
    temperatures,
    throttle,
    throttle_seconds,
    utilisation,
    window,
    without,
)
from .waves import Value, counter

__all__ = ["GIB", "MIB", "Card", "Value", "card", "without"]

DATA_CENTRE: Card = card(
    identity("NVIDIA H100 80GB HBM3"),
    utilisation(37),
    memory(80 * GIB, used=12 * GIB, reserved=GIB // 2),
    power(698, 700, instant_w=652.5),
    temperatures(54),
    clocks(1755, 1980, memory_mhz=2619, memory_max_mhz=2619),
    link(5, 16),
    window(rx_bytes_per_s=1_900_000_000, tx_bytes_per_s=400_000_000, takes_ms=0),
    byte_counters(rx_bytes_per_s=2e9, tx_bytes_per_s=0.5e9, rx_start=9_000_000_000, tx_start=7_000_000_000),
    throttle("sw_power_cap"),
)
"""A card under load, at its power cap, of which little is told; it receives 2 GB/s and sends 0.5 GB/s."""

OLD: Card = card(
    identity("GeForce GTX 750 Ti"),
    memory(2 * GIB, used=512 * MIB),
    temperatures(41),
    clocks(1085),
    link(2, 16),
    pcie_generation_gpu_max=None,
    memory_reserved_bytes=None,
)
"""Ten years old: neither utilisation, power, reasons nor PCIe traffic."""

WINDOW_ONLY: Card = card(
    without(DATA_CENTRE, "field.197", "field.198"),
    identity("NVIDIA GeForce RTX 3090"),
    costing(GetPcieThroughput=20),
)
"""No byte counters: PCIe traffic only from the call that takes 20 ms per direction."""

H200: Card = card(
    identity("NVIDIA H200", capability="9.0", bus=0x18),
    utilisation(92, memory_percent=41, samples_per_s=6),
    memory(141 * GIB, used=66 * GIB, reserved=GIB // 2),
    power(612.5, 700, instant_w=640.25),
    temperatures(63, memory_c=71, slowdown_c=90),
    clocks(1815, 1980, memory_mhz=3201, memory_max_mhz=3201),
    link(5, 16),
    window(rx_bytes_per_s=21_000_000_000, tx_bytes_per_s=1_000_000_000),
    byte_counters(rx_bytes_per_s=22e9, tx_bytes_per_s=1.25e9),
    gpm(
        sm_active=0.875,
        sm_occupancy=0.4375,
        tensor_active=0.5625,
        dram_active=0.3125,
        graphics=0.9375,
        rx_bytes_per_s=23 * GIB,
        tx_bytes_per_s=1.5 * GIB,
        nvlink_rx=96 * GIB,
        nvlink_tx=48 * GIB,
    ),
    throttle(),
    throttle_seconds(),
    states(performance=0, persistence=True, compute_mode=0, mig=False),
    ecc(corrected=3, uncorrected=0, remapped=0),
    field(83, counter(640_250, start=10**9)),
    field(94, 2),
    field(91, 18),
    pcie_replays=2,
    clock_event_reasons_supported=0x1FF,
    event_types=0x1D,
    compute_processes="",
    graphics_processes="",
    energy_mj=counter(640_250, start=10**9),
    brand=14,
    architecture=9,
    virtualization_mode=0,
    power_management_limit_mw=700_000,
    power_default_limit_mw=700_000,
    power_limit_least_mw=200_000,
    power_limit_most_mw=700_000,
    **{f"nvlink.{at}.state": 1 for at in range(18)},
    **{f"nvlink.{at}.version": 7 for at in range(18)},
    **{"retired_pages_pending": None, "field.185": 612_500, "field.185.type": 1},
)
"""A Hopper card that answers everything, GPM included; its three sources of PCIe rates differ."""

REAL_COSTS: Card = costing(
    GetFieldValues=0.5,
    GetMemoryInfo_v2=0.012,
    GetMemoryInfo=0.012,
    GetUtilizationRates=0.003,
    GetSamples=0.05,
    GetFanSpeed=0.14,
    GetFanSpeed_v2=0.14,
    GetComputeRunningProcesses_v3=4.5,
    GetGraphicsRunningProcesses_v3=4.5,
    GetPowerUsage=0.003,
    GetHandleByIndex_v2=6.0,
    GetPcieThroughput=20.0,
    nvmlGpmSampleGet=0.3,
    nvmlGpmMetricsGet=0.1,
)
"""What calls were publicly reported to take, where it is known; the two of GPM are a guess."""


def split(*gibibytes: int) -> Card:
    """An H100 in MIG mode with a device per size of memory; itself it tells no utilisation."""
    devices = [
        card(
            identity(f"NVIDIA H100 80GB HBM3 MIG {at + 1}", capability="9.0"),
            memory(size * GIB, used=(at + 1) * GIB),
            gpm(sm_active=0.25 * (at + 1), tensor_active=0.125, dram_active=0.0625),
            uuid=f"MIG-{at:08x}-1111-4000-8000-000000000000",
            gpm=None,
            compute_processes="",
            graphics_processes="",
        )
        for at, size in enumerate(gibibytes)
    ]
    return card(
        without(H200, "utilisation_percent", "samples_per_s"),
        identity("NVIDIA H100 80GB HBM3"),
        mig(*devices),
    )
