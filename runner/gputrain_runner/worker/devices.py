"""The devices PyTorch can train on here."""

from __future__ import annotations

import platform

import torch

from ..machine import host_facts
from ..timeline import Device

CONTEXT_LOST: type[BaseException] = getattr(torch, "AcceleratorError", torch.cuda.CudaError)
"""Illegal access, device-side assert: nothing works on the device any more in this process."""


def available() -> list[Device]:
    """Every usable device, the default first: CUDA GPUs in PyTorch's order, then the CPU."""
    devices = []
    if torch.cuda.is_available():
        devices = [_cuda_device(index) for index in range(torch.cuda.device_count())]
    host = host_facts()
    cpu = Device(device="cpu", name=host.cpu or platform.machine(), memory_bytes=host.memory_bytes)
    return [*devices, cpu]


def cudnn_version() -> str | None:
    """cuDNN's version as 9.1.0; None where PyTorch has none."""
    version = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    if version is None:
        return None
    # 91002 is 9.10.2 since cuDNN 9, 8902 is 8.9.2 before.
    major, rest = divmod(version, 10_000) if version >= 90_000 else divmod(version, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def capability(device: str) -> str | None:
    """The CUDA compute capability as "9.0"; None on a CPU."""
    if device == "cpu":
        return None
    major, minor = torch.cuda.get_device_capability(device)
    return f"{major}.{minor}"


def driver_version() -> str | None:
    """The NVIDIA driver's version as its library tells it; None where it cannot be asked."""
    import pynvml

    try:
        pynvml.nvmlInit()
        try:
            return str(pynvml.nvmlSystemGetDriverVersion()) or None
        finally:
            pynvml.nvmlShutdown()
    except (pynvml.NVMLError, UnicodeDecodeError):
        return None


def synchronize(device: torch.device) -> None:
    """Wait until the device has done everything; at once on a CPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _cuda_device(index: int) -> Device:
    properties = torch.cuda.get_device_properties(index)
    uuid = str(getattr(properties, "uuid", "")) or None
    if uuid and not uuid.startswith(("GPU-", "MIG-")):
        uuid = f"GPU-{uuid}"  # The driver's own spelling.
    return Device(
        device=f"cuda:{index}",
        name=properties.name,
        uuid=uuid,
        memory_bytes=properties.total_memory,
        compute_capability=f"{properties.major}.{properties.minor}",
    )
