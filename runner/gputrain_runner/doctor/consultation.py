"""A whole examination: gathers the facts, asks the driver meanwhile, and has them judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import structs

from ..ceilings import Probe
from ..timeline import Host
from .driver_watch import DriverWatch
from .examination import Examination
from .facts import Facts, LoadedTorch
from .host import look_at_host
from .registry import examine
from .surroundings import look_around, look_closer
from .torch_build import read_build
from .torch_loaded import load_torch as load


class NoDeviceError(ValueError):
    """A device to be probed is not there; the text is one line that names it and those there are."""


def consult(
    *,
    load_torch: bool = False,
    probe: bool = False,
    devices: Sequence[str] | None = None,
    on_progress: Callable[[str], None] = lambda _line: None,
) -> Examination:
    """Look at this machine and judge what is found.

    Takes about a second without PyTorch, some seconds where the driver hangs. Call it from the main thread.

    Args:
        load_torch: have a process of its own load PyTorch, for what only it can tell.
        probe: measure the devices' ceilings, and look at the GPUs under that load.
        devices: what to probe, as PyTorch names it; None: all.
        on_progress: is told what the probe is about, in a line each.

    Raises:
        NoDeviceError: PyTorch cannot use one of `devices`.
    """
    watch = DriverWatch()
    watch.start()
    host, around, torch = look_at_host(), look_around(), read_build()
    answers = watch.wait()
    ceilings, failure = None, None
    # Where the driver hangs, so would PyTorch.
    if answers and load_torch and torch.installed:
        torch = replace(torch, loaded=load())
        _check_devices(devices or (), torch.loaded)
    if answers and probe:
        ceilings, failure = _measured(watch, devices, on_progress)
    elif probe:
        failure = "the NVIDIA driver does not answer"
    driver = watch.facts()
    if driver.error is not None:
        around = look_closer(around)
    facts = Facts(host, around, driver, torch, ceilings, failure)
    return structs.replace(examine(facts), host=_with_software(facts))


def _check_devices(devices: Sequence[str], loaded: LoadedTorch | None) -> None:
    if loaded is None or loaded.error is not None:
        return
    there = [*(f"cuda:{number}" for number in range(len(loaded.devices))), "cpu"]
    for device in devices:
        if device not in there:
            because = f"; {loaded.absence}" if loaded.absence else ""
            raise NoDeviceError(f"found {device!r}, allowed: {', '.join(there)}{because}")


def _with_software(facts: Facts) -> Host:
    """The host, with the versions of what was found on it."""
    torch = facts.torch
    return structs.replace(
        facts.host.host,
        torch=torch.version,
        cuda=torch.cuda,
        cudnn=None if torch.loaded is None else torch.loaded.cudnn,
        driver=facts.driver.version,
    )


def _measured(
    watch: DriverWatch, devices: Sequence[str] | None, on_progress: Callable[[str], None]
) -> tuple[Probe | None, str | None]:
    """The ceilings, or why there are none."""
    from ..probing import ProbeError, measure

    with watch.following():
        try:
            return measure(devices, on_progress=on_progress), None
        except ProbeError as error:
            return None, str(error)
