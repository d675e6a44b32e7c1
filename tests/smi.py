"""What `nvidia-smi -q -x` says of GPUs, and where the telemetry says something else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

from gputrain_runner.hardware import Gpu

Value = str | int | float | bool | None
MIB = 2**20


@dataclass(frozen=True, slots=True)
class _Field:
    """One of the telemetry's fields, and where nvidia-smi has it."""

    name: str
    paths: Sequence[str]
    """From the GPU's element; drivers have moved some of them."""
    read: Callable[[str], Value]
    apart: float = 0.0
    """How far the two may lie apart, where they are numbers: read at two moments, rounded in two ways."""
    share: float = 0.0
    """The same as a share of nvidia-smi's."""


def _number(text: str) -> Value:
    found = re.match(r"-?\d+(\.\d+)?", text)
    return float(found[0]) if found else None


def _mib(text: str) -> Value:
    number = _number(text)
    return None if number is None else float(number) * MIB


def _switch(text: str) -> Value:
    return {"enabled": True, "disabled": False}.get(text.lower())


def _yes(text: str) -> Value:
    return {"yes": True, "no": False}.get(text.lower())


def _share(text: str) -> Value:
    number = _number(text)
    return None if number is None else float(number) / 100


def _state(text: str) -> Value:
    return _number(text.removeprefix("P"))


def _name(text: str) -> Value:
    return text


def _mode(text: str) -> Value:
    return text.lower()


_LINK = "pci/pci_gpu_link_info"
_FIELDS = (
    _Field("name", ["product_name"], _name),
    _Field("uuid", ["uuid"], _name),
    _Field("pci_bus_id", ["pci/pci_bus_id"], _mode),
    _Field("memory_total_bytes", ["fb_memory_usage/total"], _mib, 2 * MIB),
    _Field("memory_reserved_bytes", ["fb_memory_usage/reserved"], _mib, 64 * MIB),
    _Field("memory_used_bytes", ["fb_memory_usage/used"], _mib, 64 * MIB, 0.05),
    _Field("memory_free_bytes", ["fb_memory_usage/free"], _mib, 64 * MIB, 0.05),
    _Field("pcie_generation", [f"{_LINK}/pcie_gen/current_link_gen"], _number),
    _Field("pcie_generation_max", [f"{_LINK}/pcie_gen/max_link_gen"], _number),
    _Field("pcie_generation_gpu_max", [f"{_LINK}/pcie_gen/max_device_link_gen"], _number),
    _Field("pcie_width", [f"{_LINK}/link_widths/current_link_width"], _number),
    _Field("pcie_width_max", [f"{_LINK}/link_widths/max_link_width"], _number),
    _Field("pcie_replays", ["pci/replay_counter"], _number, 10),
    _Field("fan", ["fan_speed"], _share, 0.05),
    _Field("performance_state", ["performance_state"], _state),
    _Field("sm_clock_mhz", ["clocks/sm_clock"], _number, 60, 0.1),
    _Field("sm_clock_max_mhz", ["max_clocks/sm_clock"], _number),
    _Field("memory_clock_mhz", ["clocks/mem_clock"], _number, 5, 0.01),
    _Field("memory_clock_max_mhz", ["max_clocks/mem_clock"], _number),
    _Field("temperature_c", ["temperature/gpu_temp"], _number, 6),
    _Field("memory_temperature_c", ["temperature/memory_temp"], _number, 8),
    _Field(
        "power_w",
        [
            "gpu_power_readings/instant_power_draw",
            "gpu_power_readings/power_draw",
            "power_readings/power_draw",
        ],
        _number,
        40,
        0.3,
    ),
    _Field(
        "power_limit_w",
        ["gpu_power_readings/current_power_limit", "power_readings/enforced_power_limit"],
        _number,
        1,
    ),
    _Field("persistence", ["persistence_mode"], _switch),
    _Field("compute_mode", ["compute_mode"], _mode),
    _Field("mig_mode", ["mig_mode/current_mig"], _switch),
    _Field("ecc_mode", ["ecc_mode/current_ecc"], _switch),
    _Field("remapped_rows_corrected", ["remapped_rows/remapped_row_corr"], _number),
    _Field("remapped_rows_uncorrected", ["remapped_rows/remapped_row_unc"], _number),
    _Field("remapping_pending", ["remapped_rows/remapped_row_pending"], _yes),
    _Field("remapping_failed", ["remapped_rows/remapped_row_failure"], _yes),
)


@dataclass(frozen=True, slots=True)
class Listing:
    """One look at all GPUs."""

    driver: str | None
    gpus: Mapping[str, Mapping[str, Value]]
    """By UUID, the telemetry's fields that are told; None where nvidia-smi has no figure."""


def listed() -> Listing:
    """Ask nvidia-smi, which takes some tenths of a second."""
    asked = ["nvidia-smi", "-q", "-x"]
    return parsed(subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout)


def parsed(text: str) -> Listing:
    """What its XML says."""
    log = ElementTree.fromstring(text)
    gpus = {str(values["uuid"]): values for values in map(_values, log.findall("gpu"))}
    return Listing(log.findtext("driver_version"), gpus)


def mismatches(gpu: Gpu, told: Mapping[str, Value]) -> list[str]:
    """Where the telemetry's values are not nvidia-smi's, in a line each.

    What nvidia-smi has no figure for may be unknown to the telemetry or not; what it has must be known.
    """
    found = []
    for field in _FIELDS:
        expected = told.get(field.name)
        value = getattr(gpu if hasattr(gpu, field.name) else gpu.detail, field.name, None)
        if isinstance(value, str) and field.name == "pci_bus_id":
            value = value.lower()
        if expected is not None and not _same(value, expected, field):
            found.append(f"{field.name}: {value} by the telemetry, {expected} by nvidia-smi")
    return found


def _values(gpu: ElementTree.Element) -> Mapping[str, Value]:
    return {field.name: _read(gpu, field) for field in _FIELDS}


def _read(gpu: ElementTree.Element, field: _Field) -> Value:
    for path in field.paths:
        text = (gpu.findtext(path) or "").strip()
        if text and text not in ("N/A", "None") and "deprecated" not in text:
            return field.read(text)
    return None


def _same(value: Value, expected: Value, field: _Field) -> bool:
    if isinstance(value, bool | str | None) or isinstance(expected, bool | str | None):
        return value == expected and type(value) is type(expected)
    return abs(value - expected) <= field.apart + field.share * abs(expected)
