"""Measuring this machine's ceilings without a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .asking import AskError, ask
from .ceilings import Ceilings, Probe, in_words
from .live_probe import NOISY
from .machine import host_facts
from .probe_store import StoreError, keep
from .protocol import Hello, Probed, Report
from .protocol import Probe as ProbeCommand

SECONDS_EACH = 10.0

OnProgress = Callable[[str], None]


class ProbeError(Exception):
    """Nothing could be measured; the text is one line for the user."""


def measure(
    devices: Sequence[str] | None = None,
    seconds_each: float = SECONDS_EACH,
    on_progress: OnProgress = lambda _line: None,
) -> Probe:
    """Measure the ceilings of devices in a worker of its own, and keep them for later sessions.

    To be called from the main thread: a worker lives no longer than the thread that started it.

    Args:
        devices: as PyTorch names them; None: all it can use.
        seconds_each: about how long one device takes.
        on_progress: is told in a line each what is measured next, what was found and what could not be.

    Returns:
        The ceilings by the devices' names; those that could not be measured are absent.

    Raises:
        ProbeError: PyTorch cannot be loaded, or no device could be measured.
    """
    listener = _Listener(devices, seconds_each, on_progress)
    command = ProbeCommand(devices=list(devices or []), seconds_each=seconds_each)
    try:
        ask([command], Probed, hear=listener.hear, last=lambda probed: not probed.more)
    except AskError as error:
        raise ProbeError(str(error)) from None
    if not listener.found:
        raise ProbeError("; ".join(listener.failures))
    return listener.found


class _Listener:
    """Takes what the worker says while it measures, and tells of it."""

    def __init__(self, devices: Sequence[str] | None, seconds_each: float, on_progress: OnProgress) -> None:
        self.found: Probe = {}
        self.failures: list[str] = []
        self._waiting = list(devices or [])
        self._about = f"about {seconds_each:.0f} s"
        self._tell = on_progress
        self._host = host_facts()

    def hear(self, report: Report) -> None:
        """Take a report."""
        if isinstance(report, Hello):
            self._waiting = self._waiting or [device.device for device in report.devices]
            self._tell_next()
        elif isinstance(report, Probed):
            if report.ceilings is None:
                self.failures.append(f"{report.device}: {report.error}")
                self._tell(self.failures[-1])
            else:
                self._take(report.ceilings)
            if report.more:
                self._tell_next()

    def _tell_next(self) -> None:
        self._tell(f"probing {self._waiting.pop(0)}: {self._about}")

    def _take(self, ceilings: Ceilings) -> None:
        self.found[ceilings.device] = ceilings
        self._tell(f"{ceilings.device}: {in_words(ceilings)}")
        if ceilings.noisy:
            self._tell(f"{ceilings.device}: {NOISY}")
        try:
            keep(ceilings, self._host)
        except StoreError as error:
            self._tell(str(error))
