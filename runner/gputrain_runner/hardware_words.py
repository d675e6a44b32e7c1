"""What a GPU's fields are called where people read of them: in troubles, by the doctor, on the screens."""

from __future__ import annotations

from collections.abc import Iterable

WORDS = {
    "uuid": "UUID",
    "name": "name",
    "utilisation": "utilisation",
    "memory_used_bytes": "memory used",
    "memory_total_bytes": "memory size",
    "memory_free_bytes": "free memory",
    "memory_reserved_bytes": "memory kept by the driver",
    "memory_ours_bytes": "memory of this training",
    "memory_others_bytes": "memory of other processes",
    "memory_source": "how memory is counted",
    "pcie_tx_bytes_per_s": "PCIe tx",
    "pcie_rx_bytes_per_s": "PCIe rx",
    "pcie_source": "where PCIe rates come from",
    "pcie_link_bytes_per_s": "what the PCIe link carries",
    "pcie_generation": "PCIe generation",
    "pcie_width": "PCIe width",
    "pcie_generation_max": "PCIe generation of card and slot",
    "pcie_width_max": "PCIe width of card and slot",
    "pcie_generation_gpu_max": "PCIe generation of the card",
    "pcie_replays": "PCIe replays",
    "nvlink_tx_bytes_per_s": "NVLink tx",
    "nvlink_rx_bytes_per_s": "NVLink rx",
    "sm_clock_mhz": "SM clock",
    "sm_clock_max_mhz": "highest SM clock",
    "memory_clock_mhz": "memory clock",
    "memory_clock_max_mhz": "highest memory clock",
    "power_w": "power",
    "power_limit_w": "power limit",
    "temperature_c": "temperature",
    "memory_temperature_c": "memory temperature",
    "fan": "fan",
    "performance_state": "performance state",
    "throttle": "what slows the clocks",
    "throttled": "how much the clocks are held back",
    "throttled_s": "how long the clocks were held back",
    "graphics_active": "context active",
    "sm_active": "SM active",
    "sm_occupancy": "SM occupancy",
    "tensor_active": "tensor active",
    "dram_active": "DRAM active",
    "pci_bus_id": "PCI bus",
    "compute_capability": "compute capability",
    "persistence": "persistence mode",
    "compute_mode": "compute mode",
    "mig_mode": "MIG mode",
    "driver_model": "driver model",
    "virtualisation": "virtualisation",
    "ecc_mode": "ECC mode",
    "ecc_corrected": "corrected memory errors",
    "ecc_uncorrected": "uncorrected memory errors",
    "remapped_rows_corrected": "rows replaced after corrected errors",
    "remapped_rows_uncorrected": "rows replaced after uncorrected errors",
    "remapping_pending": "rows to be replaced",
    "remapping_failed": "whether spare rows are left",
    "retired_pages_pending": "pages to be retired",
    "xid_errors": "Xid errors",
    "processes": "processes",
}
"""By field of `hardware.Gpu` and `hardware.GpuDetail`: each that a driver may refuse to tell."""


def words(fields: Iterable[str], most: int | None = None) -> str:
    """The fields as a list for people: `memory used, free memory and 5 more`; all where `most` is None.

    A name that this version does not know, of a newer one's recording, is written with spaces.
    """
    told = list(dict.fromkeys(WORDS.get(field, field.replace("_", " ")) for field in fields))
    rest = 0 if most is None else max(0, len(told) - most)
    shown = ", ".join(told[: len(told) - rest])
    return f"{shown} and {rest} more" if rest else shown
