"""Checks of the system around: container or WSL, and the folder for recordings."""

from __future__ import annotations

from ..facts import Facts
from ..unit import Result, Unit, note, ok, problem
from ..words import memory

_MIB, _GIB = 2**20, 2**30


def _container(facts: Facts) -> Result | None:
    kind = facts.surroundings.container
    if kind is None:
        return None
    given = facts.surroundings.environment.get("NVIDIA_VISIBLE_DEVICES")
    if given in ("", "void", "none") and facts.surroundings.pci_gpus:
        return problem(
            f"runs in a container ({kind}) with NVIDIA_VISIBLE_DEVICES={given!r}: it is given no GPU",
            "start it with `--gpus all` (or NVIDIA_VISIBLE_DEVICES=all and the NVIDIA runtime)",
        )
    return ok(f"runs in a container ({kind})")


def _wsl(facts: Facts) -> Result | None:
    if not facts.surroundings.wsl:
        return None
    return note(
        "WSL: the Windows driver runs the GPU, so starting kernels costs more and little can be asked",
        "keep data in the Linux file system, not below /mnt; batch more work into each step",
    )


def _recordings(facts: Facts) -> Result | None:
    host = facts.host
    if host.recordings is None:
        return None
    if host.recordings_writable is False:
        return problem(
            f"{host.recordings} cannot be written to",
            "set XDG_STATE_HOME to a folder that can be written to, or record with --record PATH",
        )
    left = host.recordings_left_bytes
    if left is None:
        return None
    said = f"{memory(left)} left for recordings in {host.recordings}"
    if left < 100 * _MIB:
        return problem(said, "free some space, or record elsewhere with --record PATH")
    if left < _GIB:
        return note(f"{said}; a long one may not fit", "free some space, or record elsewhere")
    return ok(said)


UNITS = (
    Unit("container", "container", _container),
    Unit("wsl", "WSL", _wsl),
    Unit("recordings", "recordings", _recordings),
)
