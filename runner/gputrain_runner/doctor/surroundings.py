"""What the system itself shows of NVIDIA: the PCI bus, device files, the kernel module, a container."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from .facts import PciGpu, Surroundings

_ROOT = Path("/")
_CONTROL = Path("/dev/nvidiactl")
_NVIDIA = "0x10de"
_DISPLAY = "0x03"
"""The PCI class of graphics and 3D controllers; an NVIDIA card's sound and USB are other devices."""

_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "LD_LIBRARY_PATH",
)
"""All of the environment that any check looks at."""


def look_around(root: Path = _ROOT, environment: Mapping[str, str] | None = None) -> Surroundings:
    """What is there; asks no driver and opens no device.

    Args:
        root: where `/proc`, `/sys` and `/dev` are looked for.
        environment: this process's own where it is not given.
    """
    given = os.environ if environment is None else environment
    files = tuple(_device_files(root))
    return Surroundings(
        pci_gpus=tuple(_pci_gpus(root)),
        container=_container(root, given),
        bus_known=any(_children(root / "sys/bus/pci/devices")),
        wsl="microsoft" in _read(root / "proc/version").lower() or (root / "dev/dxg").exists(),
        kernel_module=_kernel_module(root),
        device_files=tuple(f"/dev/{name}" for name in files),
        closed_device_files={
            f"/dev/{name}": _mode(root / "dev" / name)
            for name in files
            if not os.access(root / "dev" / name, os.R_OK | os.W_OK)
        },
        environment={name: given[name] for name in _VARIABLES if name in given},
    )


def look_closer(around: Surroundings, control: Path = _CONTROL) -> Surroundings:
    """The same, having tried the driver's own device file; for when its library could not.

    The rules of a control group deny what a file's mode allows, and only opening it shows that.
    """
    name = f"/dev/{control.name}"
    if name not in around.device_files or name in around.closed_device_files:
        return around
    try:
        os.close(os.open(control, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        why = f"{error.strerror}, though its mode allows it: the rules of the container or job"
        return replace(around, closed_device_files={**around.closed_device_files, name: why})
    return around


def _pci_gpus(root: Path) -> Iterator[PciGpu]:
    for device in _children(root / "sys/bus/pci/devices"):
        if _read(device / "vendor") == _NVIDIA and _read(device / "class").startswith(_DISPLAY):
            driver = device / "driver"
            yield PciGpu(
                address=device.name,
                device_id=f"10de:{_read(device / 'device').removeprefix('0x')}",
                kernel_driver=driver.resolve().name if driver.exists() else None,
            )


def _container(root: Path, environment: Mapping[str, str]) -> str | None:
    if "KUBERNETES_SERVICE_HOST" in environment:
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    # systemd's convention, kept by LXC, Podman and systemd-nspawn.
    return environment.get("container") or None


def _kernel_module(root: Path) -> str | None:
    """Its version, from "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.57.08  Mon ..."."""
    first = _read(root / "proc/driver/nvidia/version").partition("\n")[0]
    numbers = (word for word in first.split() if word[0].isdigit() and word.count(".") in (1, 2))
    return next(numbers, None)


def _device_files(root: Path) -> Iterator[str]:
    for path in _children(root / "dev"):
        name = path.name
        if name in ("nvidiactl", "nvidia-uvm", "dxg") or (name.startswith("nvidia") and name[6:].isdigit()):
            yield name


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _mode(path: Path) -> str:
    try:
        found = path.stat()
    except OSError as error:
        return error.strerror or str(error)
    return f"mode {found.st_mode & 0o777:o}, owner {found.st_uid}, group {found.st_gid}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
