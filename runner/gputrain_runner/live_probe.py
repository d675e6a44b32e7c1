"""The ceilings of a live session's devices: those kept from before, and those it measures."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from .book import Book
from .ceilings import Ceilings, in_words
from .probe_store import StoreError, keep, stored
from .protocol import Probe, Probed
from .timeline import Device

NOISY = "their spreads are too wide to trust: something else used the machine"


class LiveProbe:
    """Enters ceilings into the session's header, where they are shown and recorded from.

    Its session guards it with a lock.
    """

    def __init__(self, book: Book) -> None:
        self._book = book
        self._under_way: list[str] = []
        self._devices: Sequence[Device] = ()
        self._looked_up: tuple[str | None, str | None] | None = None
        self.measured = False
        """Whether this session has measured any."""

    @property
    def under_way(self) -> bool:
        """Whether the worker measures now."""
        return bool(self._under_way)

    def begin(self, devices: Sequence[Device]) -> None:
        """PyTorch is loaded and can use these devices."""
        self._devices = devices
        self._looked_up = None
        self.look_up()

    def look_up(self) -> None:
        """Take the ceilings that were kept, where none are known yet; at once where there is nothing new.

        What was kept of a GPU counts under the same driver alone, whose version may become known late.
        """
        header = self._book.header
        versions = header.host.torch, header.host.driver
        if not self._devices or versions == self._looked_up:
            return
        self._looked_up = versions
        known = header.probe or {}
        missing = [device for device in self._devices if device.device not in known]
        found = stored(missing, header.host)
        if found:
            self._book.revise(structs.replace(header, probe={**found, **known}))

    def command(self, device: str) -> Probe:
        """What to send to have the device that trains measured, and the host that feeds it."""
        return Probe(devices=list(dict.fromkeys([device, "cpu"])))

    def asked(self, probe: Probe) -> None:
        """The worker was asked to measure."""
        self._under_way = list(probe.devices)
        about = f"about {len(probe.devices) * probe.seconds_each:.0f} s"
        self._book.say("info", f"probing {_joined(probe.devices)}, {about}: training waits")

    def take(self, probed: Probed, t: float) -> None:
        """Enter what was measured of one device, at `t`, and keep it for later sessions."""
        if not probed.more:
            self._under_way = []
        if probed.ceilings is None:
            self._book.say("warning", f"probe of {probed.device}: {probed.error}", t)
            return
        self.measured = True
        header = self._book.header
        self._book.revise(
            structs.replace(header, probe={**(header.probe or {}), probed.device: probed.ceilings})
        )
        self._tell(probed.ceilings, t)
        try:
            keep(probed.ceilings, header.host)
        except StoreError as error:
            self._book.say("warning", str(error), t)

    def lost(self) -> None:
        """The worker is gone, and with it whatever it measured."""
        self._under_way = []

    def _tell(self, ceilings: Ceilings, t: float) -> None:
        text = f"ceilings of {ceilings.device}: {in_words(ceilings)}"
        self._book.say("info", text, t)
        if ceilings.noisy:
            self._book.say("warning", f"ceilings of {ceilings.device}: {NOISY}", t)


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names)
