"""Checks of the NVIDIA driver: is there a GPU, does its library answer, may its devices be opened."""

from __future__ import annotations

from ...telemetry.absence import NO_LIBRARY, NOT_LOADED, cause
from ..facts import Facts, PciGpu
from ..unit import Result, Unit, note, ok, problem
from ..words import phrase, some

_CONTAINER = "start the container with `--gpus all` (its host needs nvidia-container-toolkit)"
_INSTALL = (
    "install the NVIDIA driver (Ubuntu: `sudo ubuntu-drivers install`; others: the distribution's package, "
    "or nvidia.com/drivers) and reboot"
)
_NONE = "no NVIDIA GPU here: every preset runs on the CPU"
_WSL = "install the NVIDIA driver of Windows, then `wsl --update`; none is installed inside of WSL"


def _gpu(facts: Facts) -> Result | None:
    """Whether there is one at all; that a driver is missing is the next check's to say."""
    listed, on_bus = len(facts.driver.gpus), facts.surroundings.pci_gpus
    if listed:
        return ok(f"the driver lists {listed} GPU{'s' if listed > 1 else ''}")
    held = [gpu for gpu in on_bus if gpu.kernel_driver == "vfio-pci"]
    if on_bus and len(held) == len(on_bus):
        return note(
            f"{_bus(on_bus)}, held by vfio-pci: handed to a virtual machine",
            "train inside of that machine, or give the card back to the nvidia module",
        )
    if on_bus:
        return ok(f"{_bus(on_bus)}; the driver lists none")
    error = facts.driver.error
    code = None if error is None else cause(error).code
    if code == NO_LIBRARY and not _driver_is_there(facts):
        return note(_NONE)
    if code == NOT_LOADED and facts.surroundings.bus_known and not _driver_is_there(facts):
        return note(f"{_NONE}; a driver is installed, but its kernel module is not loaded")
    return None


def _library(facts: Facts) -> Result | None:
    driver = facts.driver
    if driver.silence is not None:
        return problem(driver.silence, "see `dmesg` for Xid or GSP errors, end what uses the GPU, reboot")
    if driver.error is None:
        return ok(f"libnvidia-ml.so.1 answers, driver {driver.version or 'of unknown version'}")
    why = cause(driver.error)
    if why.code == NOT_LOADED and facts.surroundings.bus_known and not _driver_is_there(facts):
        return None
    if why.code != NO_LIBRARY:
        if why.code == 999 and facts.surroundings.container:
            return problem(phrase(why.found), _AGAIN)
        return problem(phrase(why.found), phrase(why.do) or "see `dmesg` and `nvidia-smi` for more")
    if not _driver_is_there(facts):
        return None
    return problem(f"{_evidence(facts)}, but libnvidia-ml.so.1 was not found", _remedy(facts))


_AGAIN = (
    "restart the container: `systemctl daemon-reload` on its host takes the devices away from running ones; "
    "if it never had them, start it with `--gpus all`"
)


def _driver_is_there(facts: Facts) -> bool:
    """Whether a GPU or a part of its driver shows, so that a missing library is a fault."""
    around = facts.surroundings
    usable = any(gpu.kernel_driver != "vfio-pci" for gpu in around.pci_gpus)
    return usable or around.kernel_module is not None or bool(around.device_files)


def _evidence(facts: Facts) -> str:
    around = facts.surroundings
    if around.kernel_module is not None:
        return f"the NVIDIA kernel module {around.kernel_module} is loaded"
    return _bus(around.pci_gpus) if around.pci_gpus else f"{some(around.device_files)} is there"


def _remedy(facts: Facts) -> str:
    around = facts.surroundings
    if around.wsl:
        return f"{_WSL}; if it is, add /usr/lib/wsl/lib to LD_LIBRARY_PATH"
    if around.container:
        return _CONTAINER
    if around.kernel_module is not None:
        return (
            "install the driver's libraries of the same version (Ubuntu: libnvidia-compute-...), "
            "or add their folder to LD_LIBRARY_PATH"
        )
    if any(gpu.kernel_driver == "nouveau" for gpu in around.pci_gpus):
        return f"{_INSTALL}; nouveau, which holds the card now, cannot run CUDA"
    return _INSTALL


def _bus(gpus: tuple[PciGpu, ...]) -> str:
    names = [f"{gpu.address} ({gpu.device_id})" for gpu in gpus]
    return f"NVIDIA GPU{'s' if len(gpus) > 1 else ''} on the PCI bus: {some(names, 2)}"


def _listed(facts: Facts) -> Result | None:
    if not facts.driver.answers or facts.driver.gpus:
        return None
    found = "the driver runs, but lists no GPU"
    if facts.surroundings.container:
        return problem(found, f"{_CONTAINER} and look at NVIDIA_VISIBLE_DEVICES")
    return problem(
        found, "see `nvidia-smi -L` and `dmesg`: the card may have failed to start, or be unplugged"
    )


def _files(facts: Facts) -> Result | None:
    around = facts.surroundings
    files, closed = around.device_files, around.closed_device_files
    if closed:
        name, why = next(iter(closed.items()))
        more = f" and {len(closed) - 1} more" if len(closed) > 1 else ""
        usual = "add this user to the group of /dev/nvidia*, or `sudo chmod 666` them"
        do = _AGAIN if around.container else usual
        return problem(f"{name}{more} may not be opened by this user ({why})", do)
    if "/dev/nvidiactl" in files and "/dev/nvidia-uvm" not in files:
        return problem(
            "/dev/nvidia-uvm is missing: the driver answers, but CUDA cannot start",
            _CONTAINER
            if around.container
            else "`sudo nvidia-modprobe -u -c=0`, or `sudo modprobe nvidia-uvm`",
        )
    if files:
        return ok(f"{some(files, 4)} may be opened")
    if around.kernel_module is not None and not facts.driver.gpus and not around.wsl:
        do = _CONTAINER if around.container else "`sudo nvidia-modprobe`, or reboot"
        return problem(
            f"the kernel module {around.kernel_module} is loaded, but there is no /dev/nvidia*", do
        )
    return None


def _module(facts: Facts) -> Result | None:
    module, library = facts.surroundings.kernel_module, facts.driver.version
    if module is None or library is None:
        return None
    if module != library:
        return problem(
            f"kernel module {module}, library {library}: the driver was updated while it was loaded",
            "reboot, or unload and load the nvidia modules",
        )
    return ok(f"{module}, as the library")


UNITS = (
    Unit("nvidia_gpu", "NVIDIA GPU", _gpu),
    Unit("driver_library", "driver library", _library),
    Unit("kernel_module", "kernel module", _module),
    Unit("device_files", "device files", _files),
    Unit("gpus_listed", "GPUs listed", _listed),
)
