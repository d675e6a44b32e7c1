"""What each machine of the simulated driver consists of, GPU by GPU, in the program's own terms."""

from __future__ import annotations

from card_values import (
    DATA_CENTRE,
    GARBAGE,
    H200_AS_IT_IS,
    LAPTOP,
    OLD,
    SMALL,
    TRAINED_DOWN,
    UNIFIED,
    VGPU,
    WITHOUT_PERMISSION,
)
from roughly import About, Positive, Values, joined
from simulated_driver.parts import GIB


def _one_of_eight(index: int) -> Values:
    return joined(
        H200_AS_IT_IS,
        index=index,
        utilisation=(90 - 10 * index) / 100,
        memory_used_bytes=(60 - 7 * index) * GIB,
        memory_free_bytes=(81 + 7 * index) * GIB - GIB // 2,
        power_w=610.5 - 50 * index,
        temperature_c=60 - index,
        memory_temperature_c=70 - index,
        sm_clock_mhz=1800 - 15 * index,
        sm_active=0.875 - 0.0625 * index,
        tensor_active=0.5 - 0.0625 * index,
        dram_active=0.25,
        pcie_rx_bytes_per_s=(20 - index) * GIB,
        pcie_tx_bytes_per_s=(10 - index) * GIB,
        detail={"pci_bus_id": f"00000000:{0x18 + 8 * index:02X}:00.0"},
    )


def _of_mig(number: int) -> Values:
    """A MIG device: its own is what is named here, the rest the whole GPU's, but for the links' traffic."""
    return joined(
        H200_AS_IT_IS,
        mig=number,
        uuid=f"MIG-{number:08x}-1111-4000-8000-000000000000",
        name=f"NVIDIA H100 80GB HBM3 MIG {number + 1}",
        utilisation=None,
        memory_total_bytes=(20, 40)[number] * GIB,
        memory_used_bytes=(number + 1) * GIB,
        memory_reserved_bytes=0,
        memory_free_bytes=(19, 38)[number] * GIB,
        sm_active=0.25 * (number + 1),
        tensor_active=0.125,
        dram_active=0.0625,
        sm_occupancy=None,
        graphics_active=None,
        pcie_source=None,
        pcie_rx_bytes_per_s=None,
        pcie_tx_bytes_per_s=None,
        pcie_link_bytes_per_s=None,
        nvlink_rx_bytes_per_s=None,
        nvlink_tx_bytes_per_s=None,
        detail={"mig_mode": True},
    )


MACHINES: dict[str, list[Values]] = {
    "healthy": [H200_AS_IT_IS],
    "eight": [_one_of_eight(index) for index in range(8)],
    "old": [OLD],
    "laptop": [LAPTOP],
    "trained_down": [TRAINED_DOWN],
    "hot": [
        joined(
            H200_AS_IT_IS,
            temperature_c=91,
            memory_temperature_c=102,
            sm_clock_mhz=1110,
            power_w=418.5,
            throttle=["hw_slowdown", "sw_thermal_slowdown", "hw_thermal_slowdown"],
            throttled={"sw_thermal_slowdown": About(0.75), "hw_thermal_slowdown": About(0.25)},
            throttled_s={"sw_thermal_slowdown": Positive(), "hw_thermal_slowdown": Positive()},
        )
    ],
    "at_its_cap": [
        joined(
            H200_AS_IT_IS,
            utilisation=1.0,
            power_w=700.5,
            sm_clock_mhz=1650,
            throttle=["sw_power_cap"],
            throttled={"sw_power_cap": About(0.9375)},
            throttled_s={"sw_power_cap": Positive()},
        )
    ],
    "vgpu": [VGPU],
    "mig": [
        joined(H200_AS_IT_IS, name="NVIDIA H100 80GB HBM3", utilisation=None, detail={"mig_mode": True}),
        _of_mig(0),
        _of_mig(1),
    ],
    "no_permission": [WITHOUT_PERMISSION],
    "no_memory_v2": [
        joined(
            DATA_CENTRE,
            memory_used_bytes=12 * GIB + GIB // 2,
            memory_reserved_bytes=None,
            detail={"memory_source": "driver_with_reserved"},
        )
    ],
    "garbage": [GARBAGE],
    "unified": [UNIFIED],
    "unified_zero": [UNIFIED],
    "reversed": [SMALL, joined(H200_AS_IT_IS, index=1)],
}
"""By the scenario's name, in the order in which the program lists them."""
