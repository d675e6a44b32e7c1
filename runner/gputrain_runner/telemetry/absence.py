"""Why there is no GPU telemetry, in words: one line each, with the cause and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .driver import DriverError

ASKING = "asking the NVIDIA driver ..."
"""What is said from the start until the driver has answered for the first time."""

NO_GPU = (
    "The NVIDIA driver lists no GPU: see `nvidia-smi -L`; in a container, start it with `--gpus all` and "
    "look at NVIDIA_VISIBLE_DEVICES."
)

_CONTAINER_MARKS = (Path("/.dockerenv"), Path("/run/.containerenv"))

NOT_LOADED = 9
"""NVML_ERROR_DRIVER_NOT_LOADED."""
NO_LIBRARY = 12
"""NVML_ERROR_LIBRARY_NOT_FOUND."""

_CAUSES = {
    4: (
        "The NVIDIA driver refuses access: this user may not open /dev/nvidia*.",
        "Check their owner, group and mode.",
    ),
    NOT_LOADED: (
        "The NVIDIA driver is not loaded: its library is there, its kernel module is not.",
        "Try `sudo modprobe nvidia`, else install the driver again.",
    ),
    10: (
        "The NVIDIA driver did not answer in time:",
        "see `dmesg` for Xid or GSP errors, then reboot.",
    ),
    NO_LIBRARY: ("No NVIDIA GPU: the driver library libnvidia-ml.so.1 was not found.", ""),
    13: ("The NVIDIA driver's library is too old to be asked:", "update the driver."),
    15: (
        "The GPU is lost: it no longer answers on the bus.",
        "See `dmesg` for Xid errors, then reboot.",
    ),
    16: ("The GPU must be reset:", "run `nvidia-smi --gpu-reset` or reboot."),
    17: (
        "The operating system blocks the NVIDIA driver:",
        "check cgroup, SELinux and AppArmor rules for /dev/nvidia*.",
    ),
    18: (
        "The NVIDIA driver's library and kernel module differ:",
        "reboot or reload the module (the driver was probably updated while it was loaded).",
    ),
    999: (
        "The NVIDIA driver answers `unknown error`: often a container without access to /dev/nvidia*.",
        "Start it again with `--gpus all`; outside of one, reboot.",
    ),
}
"""By NVML's code: what is the matter, and what to do."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Why the driver could not be asked."""

    found: str
    do: str
    """Empty where there is nothing to be done."""
    code: int | None = None
    """NVML's code, where it was NVML that refused."""


def cause(error: Exception) -> Cause:
    """What went wrong on the way to the first GPU."""
    if isinstance(error, DriverError):
        otherwise = (f"The NVIDIA driver could not be asked: {one_line(error)}.", "")
        return Cause(*_CAUSES.get(error.code or 0, otherwise), code=error.code)
    if isinstance(error, ImportError):
        return Cause(
            "The NVIDIA driver could not be asked:", f"install nvidia-ml-py again ({one_line(error)})."
        )
    return Cause(f"The NVIDIA driver could not be asked: {type(error).__name__}: {one_line(error)}.", "")


def explain(error: Exception) -> str:
    """The line for what went wrong on the way to the first GPU."""
    why = cause(error)
    line = f"{why.found} {why.do}".strip()
    if why.code == NO_LIBRARY and any(mark.exists() for mark in _CONTAINER_MARKS):
        return f"{line} If this container's host has one, start it with `--gpus all`."
    return line


_HEALS = frozenset({9, 10, 15, 16, 999})
"""Codes that may go by themselves: a driver being loaded, a GPU being reset or coming back."""


def may_heal(error: Exception) -> bool:
    """Whether it is worth asking again later."""
    return isinstance(error, DriverError) and error.code in _HEALS


def interrupted(error: Exception) -> str:
    """The line for an error of our own while sampling; sampling goes on."""
    return f"Reading the GPUs failed, trying again: {type(error).__name__}: {one_line(error)}."


def asking(waited_s: float) -> str:
    """`ASKING`, with how long already when that is long."""
    return ASKING if waited_s < 2 else f"{ASKING} no answer for {waited_s:.0f} s"


def one_line(error: Exception) -> str:
    """An error's text without line breaks, of a length that fits a line."""
    text = " ".join(str(error).split()).rstrip(".")
    return text if len(text) <= 160 else f"{text[:157]}..."
