"""The machines and faults that the program must cope with, by name; a fault may set in while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .cards import DATA_CENTRE, H200, OLD, split
from .driver import SimulatedDriver
from .parts import (
    GIB,
    MIB,
    Card,
    byte_counters,
    card,
    clocks,
    failing,
    gpm,
    hanging,
    identity,
    link,
    memory,
    power,
    processes,
    states,
    temperatures,
    throttle,
    throttle_seconds,
    utilisation,
    window,
)
from .waves import Value


@dataclass(frozen=True)
class Scenario:
    """A machine: its GPUs in the driver's order, and what is the matter with it."""

    name: str
    cards: tuple[Card, ...]
    system: Mapping[str, Value] = field(default_factory=dict)
    """Entries of the driver as a whole."""
    missing: tuple[str, ...] = ()
    """Functions that its library does not have."""
    fault: Mapping[str, Value | None] = field(default_factory=dict)
    """What sets in when `strike` is called."""
    cuda_order: tuple[int, ...] | None = None
    """The driver's numbers of the GPUs in CUDA's order, where that differs."""

    def play(self, driver: SimulatedDriver) -> None:
        """Set the machine up, as yet without its fault."""
        driver.without(*self.missing)
        if self.cards:
            driver.cards(*self.cards)
        driver.set(self.system)

    def number_for_cuda(self, driver: SimulatedDriver) -> None:
        """Name the GPUs as the fake worker names its devices: CUDA's first is GPU-cuda:0."""
        order = self.cuda_order or range(len(self.cards))
        driver.set({f"gpu{index}.uuid": f"GPU-cuda:{number}" for number, index in enumerate(order)})

    def strike(self, driver: SimulatedDriver) -> None:
        """Let the fault set in."""
        driver.set(self.fault)


def of_gpu(index: int, fault: Card) -> dict[str, Value | None]:
    """A fault of one GPU."""
    return {f"gpu{index}.{key}": value for key, value in fault.items()}


def _one_of_eight(index: int) -> Card:
    """Each differs from the others in all that moves."""
    return card(
        H200,
        identity("NVIDIA H200", capability="9.0", bus=0x18 + 8 * index),
        utilisation(90 - 10 * index, samples_per_s=6),
        memory(141 * GIB, used=(60 - 7 * index) * GIB, reserved=GIB // 2),
        power(600 - 50 * index, 700, instant_w=610.5 - 50 * index),
        temperatures(60 - index, memory_c=70 - index),
        clocks(1800 - 15 * index, 1980, memory_mhz=3201, memory_max_mhz=3201),
        gpm(
            sm_active=0.875 - 0.0625 * index,
            tensor_active=0.5 - 0.0625 * index,
            dram_active=0.25,
            rx_bytes_per_s=(20 - index) * GIB,
            tx_bytes_per_s=(10 - index) * GIB,
        ),
    )


NOBODY = 4_194_001
"""A process id so high that no process has it: one of another system, as a container's host."""

LAPTOP = card(
    identity("NVIDIA GeForce RTX 4060 Laptop GPU", capability="8.9", bus=1),
    utilisation(0, memory_percent=2, samples_per_s=6),
    memory(8188 * MIB, used=420 * MIB, reserved=268 * MIB),
    power(3.25, instant_w=3.5),
    temperatures(38),
    clocks(210, 3105, memory_mhz=405, memory_max_mhz=8001),
    link(1, 8, slot_generation=4, slot_width=8),
    window(rx_bytes_per_s=2_000_000, tx_bytes_per_s=1_000_000),
    byte_counters(rx_bytes_per_s=3e6, tx_bytes_per_s=1.5e6),
    throttle("idle"),
    throttle_seconds(),
    states(performance=8, persistence=False, compute_mode=0),
    processes({}, graphics={NOBODY: 210 * MIB}),
)
"""Idle: its link has gone down to generation 1 to save power, which is as it should be."""

TRAINED_DOWN = card(
    identity("NVIDIA GeForce RTX 4090", capability="8.9", bus=1),
    utilisation(96, memory_percent=60, samples_per_s=6),
    memory(24564 * MIB, used=19 * GIB, reserved=400 * MIB),
    power(388, 450, instant_w=391.5),
    temperatures(67),
    clocks(2700, 3105, memory_mhz=10501, memory_max_mhz=10501),
    link(4, 4, slot_generation=4, slot_width=16),
    window(rx_bytes_per_s=7_000_000_000, tx_bytes_per_s=300_000_000),
    byte_counters(rx_bytes_per_s=7.5e9, tx_bytes_per_s=0.25e9),
    throttle(),
    throttle_seconds(),
    states(performance=2, persistence=True, compute_mode=0, fan_percent=61),
    processes({}, graphics={}),
)
"""Under load, and yet on 4 of the 16 lanes that card and slot have."""

HOT = card(
    H200,
    temperatures(91, memory_c=102, slowdown_c=90),
    clocks(1110, 1980, memory_mhz=3201, memory_max_mhz=3201),
    power(420, 700, instant_w=418.5),
    throttle("hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown"),
    throttle_seconds(sw_thermal_slowdown=0.75, hw_thermal_slowdown=0.25),
)
"""Too hot for its clocks."""

AT_ITS_CAP = card(
    H200,
    utilisation(100, memory_percent=55, samples_per_s=6),
    power(699, 700, instant_w=700.5),
    clocks(1650, 1980, memory_mhz=3201, memory_max_mhz=3201),
    throttle("sw_power_cap"),
    throttle_seconds(sw_power_cap=0.9375),
)
"""Fully at work and so at its power limit, which is normal."""

VGPU = card(
    identity("GRID A100-20C", capability="8.0", bus=2),
    utilisation(55, memory_percent=20),
    memory(20 * GIB, used=7 * GIB, reserved=1 * GIB),
    clocks(1410, 1410, memory_mhz=1215, memory_max_mhz=1215),
    states(performance=0, persistence=True, compute_mode=0, virtualisation=2),
)
"""A part of a card, in a virtual machine: neither PCIe, power, temperature nor processes."""

GARBAGE: Card = card(
    {"name": "NVIDIA A30 \\xf8\\xff", "pci_bus_id": "\\xff\\xff", "compute_capability": "-1.-1"},
    utilisation(0xFFFFFFFF, samples_per_s=6),
    memory(0, used=123),
    throttle_seconds(sw_power_cap=1000.0),
    link(0, 0, slot_generation=10, slot_width=64, card_generation=0xFFFFFFFF),
    gpm(sm_active=40.0, tensor_active=-1.0, rx_bytes_per_s=1e18, tx_bytes_per_s=-(2.0**20)),
    byte_counters(rx_bytes_per_s=1e15, tx_bytes_per_s=1e15),
    power_mw=0xFFFFFFFF,
    power_limit_mw=0xFFFFFFFF,
    temperature_c=4242,
    sm_clock_mhz=0xFFFFFFFF,
    sm_clock_max_mhz=0,
    memory_clock_mhz=0xFFFFFFFF,
    memory_clock_max_mhz=0xFFFFFFFF,
    clock_event_reasons=2**64 - 1,
    fan_percent=0xFFFFFFFF,
    fans=1,
    performance_state=32,
    persistence_mode=0xFFFFFFFF,
    compute_mode=0xFFFFFFFF,
    virtualization_mode=0xFFFFFFFF,
    driver_model=0xFFFFFFFF,
    mig_mode=0xFFFFFFFF,
    ecc_mode=0xFFFFFFFF,
    pcie_replays=0xFFFFFFFF,
    compute_processes="4294967295:18446744073709551614 0:77",
    graphics_processes="",
    process_rows_longer=1,
    **{"ecc.corrected.volatile": 2**64 - 1, "ecc.uncorrected.volatile": 2**64 - 1},
    **{"field.82": 0xFFFFFFFF, "field.82.type": 1, "field.186": 0xFFFFFFFF, "field.186.type": 1},
)
"""All answers are successes, and none of them was ever written."""

UNIFIED = card(
    identity("NVIDIA GB10", capability="12.1", bus=1),
    utilisation(44, samples_per_s=6),
    power(31.5, instant_w=32.25),
    temperatures(52),
    clocks(2405, 3003),
    link(1, 1),
    throttle(),
    states(performance=0, persistence=True, compute_mode=0),
    processes({}, graphics={}),
    addressing_mode=2,
)
"""One chip with its CPU: no memory of its own, and a placeholder for a link."""

SMALL = card(
    TRAINED_DOWN,
    identity("NVIDIA GeForce RTX 3060", capability="8.6", bus=1),
    utilisation(3, samples_per_s=6),
    memory(12 * GIB, used=300 * MIB, reserved=200 * MIB),
    temperatures(33),
    clocks(210, 3105, memory_mhz=405, memory_max_mhz=10501),
    link(1, 16, slot_generation=4, slot_width=16),
    throttle("idle"),
)
"""An idle small card beside a big one."""

_DENIED = failing(
    GetComputeRunningProcesses_v2=4,
    GetComputeRunningProcesses_v3=4,
    GetGraphicsRunningProcesses_v2=4,
    GetGraphicsRunningProcesses_v3=4,
    GetSamples=4,
    GetUtilizationRates=4,
    GetPcieThroughput=4,
    nvmlGpmQueryDeviceSupport=4,
    nvmlGpmSampleGet=4,
) | {"field.197.error": 4, "field.198.error": 4}

MACHINES = (
    Scenario("healthy", (H200,)),
    Scenario("eight", tuple(_one_of_eight(index) for index in range(8))),
    Scenario("old", (OLD,), {"driver_version": "390.157", "cuda_driver_version": 9010}),
    Scenario("laptop", (LAPTOP,)),
    Scenario("trained_down", (TRAINED_DOWN,)),
    Scenario("hot", (HOT,)),
    Scenario("at_its_cap", (AT_ITS_CAP,)),
    Scenario("vgpu", (VGPU,)),
    Scenario("mig", (split(20, 40),)),
    Scenario("no_permission", (card(H200, _DENIED),)),
    Scenario("no_memory_v2", (DATA_CENTRE,), missing=("nvmlDeviceGetMemoryInfo_v2",)),
    Scenario("garbage", (GARBAGE,)),
    Scenario("unified", (UNIFIED,)),
    Scenario("unified_zero", (card(UNIFIED, memory(0, used=0)),)),
    Scenario("reversed", (SMALL, H200), cuda_order=(1, 0)),
)
"""What stays as it is."""

FAULTS = (
    Scenario("mismatch", (H200,), {"nvmlInitWithFlags.error": 18}),
    Scenario("not_loaded", (H200,), {"nvmlInitWithFlags.error": 9}),
    Scenario("no_access", (H200,), {"nvmlInitWithFlags.error": 4}),
    Scenario("no_gpu", ()),
    Scenario("init_hangs", (H200,), dict(hanging("nvmlInitWithFlags"))),
    Scenario("lost", (H200, H200), fault=of_gpu(0, {"*.error": 15})),
    Scenario("other_lost", (H200, H200), fault=of_gpu(1, {"*.error": 15})),
    Scenario("access_lost", (H200,), fault={"*.error": 999}),
    Scenario("call_hangs", (H200,), fault=of_gpu(0, hanging("GetFieldValues"))),
    Scenario("all_hangs", (H200, H200), fault={"*.hang": 1}),
    Scenario("slow", (H200,), fault={"*.delay_ms": 400}),
    Scenario("denied_later", (H200,), fault=of_gpu(0, _DENIED)),
)
"""What is wrong from the beginning, or goes wrong while training runs."""

SCENARIOS = {scenario.name: scenario for scenario in (*MACHINES, *FAULTS)}
"""All of them, by name."""
