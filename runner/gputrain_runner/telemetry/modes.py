"""How a GPU is set up: persistence, compute mode, MIG, driver model, its place on the bus."""

from __future__ import annotations

from collections.abc import Mapping

from .question import Ask, Question, Values

COMPUTE_MODES = {0: "default", 1: "exclusive_thread", 2: "prohibited", 3: "exclusive_process"}
"""NVML_COMPUTEMODE_*."""
DRIVER_MODELS = {0: "wddm", 1: "tcc", 2: "mcdm"}
"""NVML_DRIVER_*: WDM is what TCC is called today."""
VIRTUALISATION = {0: "none", 1: "passthrough", 2: "vgpu", 3: "host_vgpu", 4: "host_vsga"}
"""NVML_GPU_VIRTUALIZATION_MODE_*."""


def flag(field: str, function: str) -> Ask:
    """On or off."""
    return _of(field, function, {0: False, 1: True})


def first_flag(field: str, function: str) -> Ask:
    """On or off, of a question that answers (now, from the next reboot on)."""

    def ask(question: Question) -> Values:
        return {field: {0: False, 1: True}.get(int(question.driver.call(function, question.handle)[0]))}

    return ask


def named(field: str, function: str, names: Mapping[int, str]) -> Ask:
    """A number that stands for a word."""
    return _of(field, function, names)


def driver_model(function: str) -> Ask:
    """Of Windows: what the driver is to the system; its answer is (now, from the next reboot on)."""

    def ask(question: Question) -> Values:
        model = int(question.driver.call(function, question.handle)[0])
        return {"driver_model": DRIVER_MODELS.get(model)}

    return ask


def pci_bus_id(question: Question) -> Values:
    """As 00000000:1B:00.0."""
    text = question.driver.call("nvmlDeviceGetPciInfo", question.handle).busId
    return {"pci_bus_id": (text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)) or None}


def compute_capability(question: Question) -> Values:
    """As 9.0."""
    major, minor = question.driver.call("nvmlDeviceGetCudaComputeCapability", question.handle)
    plausible = 1 <= major <= 99 and 0 <= minor <= 99
    return {"compute_capability": f"{major}.{minor}" if plausible else None}


def _of(field: str, function: str, meanings: Mapping[int, object]) -> Ask:
    def ask(question: Question) -> Values:
        return {field: meanings.get(int(question.driver.call(function, question.handle)))}

    return ask
