"""GPUs for the simulated driver: what each kind of card answers. What a card has no key for, it refuses."""

from __future__ import annotations

Value = str | int
Card = dict[str, Value]

GIB = 2**30

DATA_CENTRE: Card = {
    "name": "NVIDIA H100 80GB HBM3",
    "utilisation_percent": 37,
    "memory_total_bytes": 80 * GIB,
    "memory_used_bytes": 12 * GIB,
    "memory_reserved_bytes": GIB // 2,
    "power_mw": 698_000,
    "power_limit_mw": 700_000,
    "temperature_c": 54,
    "sm_clock_mhz": 1755,
    "sm_clock_max_mhz": 1980,
    "memory_clock_mhz": 2619,
    "memory_clock_max_mhz": 2619,
    "pcie_generation": 5,
    "pcie_generation_max": 5,
    "pcie_generation_gpu_max": 5,
    "pcie_width": 16,
    "pcie_width_max": 16,
    "pcie_tx_kb_per_s": 400_000,
    "pcie_rx_kb_per_s": 1_900_000,
    "clock_event_reasons": 0x4,
    "field.186": 652_500,
    "field.186.type": 1,
    "field.197": "ramp 7000000000 500000000",
    "field.198": "ramp 9000000000 2000000000",
}
"""A current card under load, at its power cap; it receives 2 GB/s and sends 0.5 GB/s."""

OLD: Card = {
    "name": "GeForce GTX 750 Ti",
    "memory_total_bytes": 2 * GIB,
    "memory_used_bytes": 512 * 2**20,
    "temperature_c": 41,
    "sm_clock_mhz": 1085,
    "pcie_generation": 2,
    "pcie_generation_max": 2,
    "pcie_width": 16,
    "pcie_width_max": 16,
}
"""Ten years old: neither utilisation, power, reasons nor PCIe traffic."""

WINDOW_ONLY: Card = {
    key: value for key, value in DATA_CENTRE.items() if key not in {"field.197", "field.198"}
} | {"name": "NVIDIA GeForce RTX 3090", "nvmlDeviceGetPcieThroughput.delay_ms": 20}
"""No byte counters: PCIe traffic only from the call that takes 20 ms per direction."""
