"""Checks of PyTorch: its build against the driver, and what is hidden from it."""

from __future__ import annotations

from ..builds import reinstall
from ..facts import Facts, read_version
from ..unit import NOT_TOLD, Result, Unit, note, ok, problem
from ..words import plain

_OLDEST_DRIVERS = {11: (450, 80), 12: (525, 60), 13: (580, 65)}
"""By CUDA's major version: the oldest Linux driver that runs all of it (CUDA's release notes)."""


def _installed(facts: Facts) -> Result | None:
    torch = facts.torch
    if not torch.installed:
        return problem("PyTorch is not installed where this program runs", "pip install torch")
    if not torch.build_known:
        return NOT_TOLD
    build = (
        f"for CUDA {torch.cuda}" if torch.cuda else f"for ROCm {torch.hip}" if torch.hip else "for the CPU"
    )
    found = f"{torch.version or 'of unknown version'}, built {build}"
    if torch.cuda is not None or not facts.has_gpu:
        return ok(found)
    return problem(f"{found}: it cannot use the NVIDIA GPU", f"{reinstall(facts)}")


def _driver(facts: Facts) -> Result | None:
    """CUDA runs on any driver of its own major version or newer."""
    needed, driver = read_version(facts.torch.cuda), facts.driver
    if needed is None or not driver.answers or not driver.gpus:
        return None
    able = _able(facts, needed[0])
    if able is None:
        return NOT_TOLD
    name = f"driver {driver.version or 'of unknown version'}"
    upto = f", which runs CUDA up to {driver.cuda[0]}.{driver.cuda[1]}" if driver.cuda else ""
    if not able:
        return problem(
            f"{name}{upto}, is too old for PyTorch's CUDA {facts.torch.cuda}",
            _either(reinstall(facts)),
        )
    if driver.cuda is not None and driver.cuda < needed:
        return note(
            f"{name}{upto}, runs PyTorch's CUDA {facts.torch.cuda} by minor version compatibility: "
            "kernels for newer cards cannot be made on the fly",
            "update the driver if compiling fails with `unsupported toolchain`",
        )
    return ok(f"{name} can run PyTorch's CUDA {facts.torch.cuda}")


def _either(do: str) -> str:
    return do if do.startswith("update the driver") else f"update the driver, or {do}"


def _able(facts: Facts, needed: int) -> bool | None:
    newest, version = facts.driver.cuda, read_version(facts.driver.version)
    if newest is not None:
        return newest[0] >= needed
    oldest = _OLDEST_DRIVERS.get(needed)
    return None if version is None or oldest is None else version >= oldest


def _loads(facts: Facts) -> Result | None:
    loaded = facts.torch.loaded
    if loaded is None:
        return None
    if loaded.error is not None:
        return problem(
            f"PyTorch cannot be loaded: {plain(loaded.error)}",
            'see `python -c "import torch"`; where a library is missing, install PyTorch again',
        )
    names = ", ".join(device.name for device in loaded.devices)
    if loaded.devices:
        return ok(f"it loads and sees {len(loaded.devices)} CUDA device(s): {names}")
    if facts.torch.cuda is None or not facts.driver.gpus:
        return ok("it loads and runs on the CPU")
    said = f": {plain(loaded.absence)}" if loaded.absence else ""
    return problem(
        f"it loads, but sees none of the driver's {len(facts.driver.gpus)} GPU(s){said}",
        "see the other lines here: CUDA_VISIBLE_DEVICES, device files and the driver's version are the "
        "usual causes",
    )


def _probe(facts: Facts) -> Result | None:
    if facts.probe_failure is not None:
        return problem(
            f"nothing could be measured: {plain(facts.probe_failure)}",
            "see the other lines here for its cause",
        )
    if facts.probe is None:
        return None
    noisy = [device for device, ceilings in facts.probe.items() if ceilings.noisy]
    if noisy:
        return note(
            f"the spread is too wide to trust on {', '.join(noisy)}: something else used the machine",
            "probe again when the machine is quiet",
        )
    return ok(f"measured {', '.join(facts.probe)}")


UNITS = (
    Unit("pytorch_build", "PyTorch", _installed),
    Unit("driver_for_cuda", "driver for CUDA", _driver),
    Unit("pytorch_loads", "PyTorch loads", _loads, needs_torch=True),
    Unit("probe", "probe", _probe),
)
