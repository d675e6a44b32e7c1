"""All that the checks look at, gathered beforehand: a check only judges, it asks nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..ceilings import Probe
from ..hardware import Gpu, GpuDetail
from ..timeline import Host

Capability = tuple[int, int]
"""A CUDA compute capability: major, minor."""


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The machine without its GPUs. Bytes; None is unknown."""

    host: Host
    cores_installed: int | None = None
    cores_by_affinity: int | None = None
    """Cores that the scheduler may put this process on."""
    load: float | None = None
    """Processes that wanted a core during the last minute."""
    memory_left_bytes: int | None = None
    memory_total_bytes: int | None = None
    """What this process may use: the host's, or less where its control group allows less."""
    shared_memory_bytes: int | None = None
    """The size of /dev/shm."""
    shared_memory_left_bytes: int | None = None
    locked_memory_limit_bytes: float | None = None
    """RLIMIT_MEMLOCK; infinite where there is none."""
    recordings: Path | None = None
    """The default folder for recordings."""
    recordings_writable: bool | None = None
    recordings_left_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class PciGpu:
    """An NVIDIA GPU on the PCI bus, whether or not a driver knows it."""

    address: str
    device_id: str
    """As in "10de:2684"."""
    kernel_driver: str | None
    """The kernel module that holds it: "nvidia", "nouveau", "vfio-pci"."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the system shows of NVIDIA without its driver being asked."""

    pci_gpus: tuple[PciGpu, ...] = ()
    container: str | None = None
    """The kind of container this runs in: "docker", "podman", "kubernetes", "lxc", "container"."""
    wsl: bool = False
    bus_known: bool = False
    """Whether the PCI bus could be looked at, so that no GPU there means that there is none."""
    kernel_module: str | None = None
    """The version of the NVIDIA kernel module that is loaded."""
    device_files: tuple[str, ...] = ()
    """/dev/nvidia* (on WSL /dev/dxg) as they are there."""
    closed_device_files: Mapping[str, str] = field(default_factory=dict)
    """Those this process may not open for reading and writing, and why."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GpuFacts:
    """One GPU that the driver lists."""

    gpu: Gpu
    """Its values as first asked: what was going on before the doctor did anything."""
    busiest: Gpu
    """The sample under the highest load; the first one where no more were taken."""
    lost: bool = False
    """It does not answer at all; `gpu.trouble` says why."""
    mig_devices: tuple[Gpu, ...] = ()
    power_limit_default_w: float | None = None

    @property
    def detail(self) -> GpuDetail:
        """The long tail, all unknown where it was not told."""
        return self.gpu.detail or GpuDetail()

    @property
    def capability(self) -> Capability | None:
        """The CUDA compute capability."""
        return read_version(self.detail.compute_capability)


def read_version(text: str | None) -> tuple[int, int] | None:
    """Major and minor number of "12.6" or "12.6.1"; None for what is no such text."""
    parts = (text or "").split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts[:2]):
        return None
    return int(parts[0]), int(parts[1])


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """What the NVIDIA driver says."""

    error: Exception | None = None
    """Why it could not be asked."""
    silence: str | None = None
    """Which call had not returned when waiting for it was given up, in one line."""
    version: str | None = None
    cuda: Capability | None = None
    """The newest CUDA version it can run, as (12, 9)."""
    gpus: tuple[GpuFacts, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether it could be initialised and lists what it has."""
        return self.error is None and self.silence is None


@dataclass(frozen=True, slots=True)
class LoadedDevice:
    """A CUDA device as PyTorch sees it once loaded."""

    name: str
    uuid: str | None = None
    capability: Capability | None = None
    error: str | None = None
    """Why a first small kernel failed on it; None where it ran."""


@dataclass(frozen=True, slots=True)
class LoadedTorch:
    """What only PyTorch itself can say; a process of its own loads it."""

    error: str | None = None
    """Why it could not be loaded."""
    absence: str | None = None
    """Why it can use no CUDA GPU, in one line; None where it can."""
    kernels: tuple[str, ...] = ()
    """The architectures it was compiled for: "sm_90", "compute_90"."""
    devices: tuple[LoadedDevice, ...] = ()
    threads: int | None = None
    cudnn: str | None = None


@dataclass(frozen=True, slots=True)
class TorchFacts:
    """PyTorch, as far as its files tell without being run."""

    installed: bool
    version: str | None = None
    cuda: str | None = None
    """The CUDA version it was built for; None for a build without."""
    hip: str | None = None
    """The ROCm version, of a build for AMD's GPUs."""
    build_known: bool = True
    """Whether `cuda` could be read."""
    loaded: LoadedTorch | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything."""

    host: HostFacts
    surroundings: Surroundings
    driver: DriverFacts
    torch: TorchFacts
    probe: Probe | None = None
    probe_failure: str | None = None
    """Why nothing could be measured, where that was asked for."""

    @property
    def has_gpu(self) -> bool:
        """Whether there is an NVIDIA GPU here, known to the driver or at least on the bus."""
        return bool(self.driver.gpus or self.surroundings.pci_gpus)
