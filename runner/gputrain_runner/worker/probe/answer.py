"""Answering the session's `Probe`: one device after another, as long as nobody asks to stop."""

from __future__ import annotations

import time

from ...protocol import Probe, Probed, Stop
from .. import devices
from ..link import Link
from .device import measure


def answer(command: Probe, link: Link) -> None:
    """Measure the devices that are asked for and send a `Probed` for each.

    A `Stop` that arrives meanwhile ends it after some tenths of a second, and is left to be obeyed.
    """
    there = {device.device: device for device in devices.available()}
    wanted = command.devices or list(there)
    for left, name in zip(range(len(wanted) - 1, -1, -1), wanted, strict=True):
        ceilings, error = None, None
        if name not in there:
            error = f"there is no device {name} here; there are {', '.join(there)}"
        else:
            ceilings = measure(there[name], command.seconds_each, lambda: _stop_came(link))
            error = None if ceilings is not None else "stopped before it was measured"
        more = bool(left) and not _stop_came(link)
        link.send(Probed(at=time.monotonic(), device=name, ceilings=ceilings, error=error, more=more))
        if not more:
            return


def _stop_came(link: Link) -> bool:
    return any(isinstance(command, Stop) for command in tuple(link.commands))
