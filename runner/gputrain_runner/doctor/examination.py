"""What the doctor found, as it is shown and as `doctor --json` prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ..ceilings import Probe
from ..timeline import Host

Verdict = Literal["ok", "note", "problem"]
"""Fine; worth knowing but no fault; something that stops or slows training and can be mended."""

Group = Literal["host", "driver", "pytorch", "gpu"]


class Check(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    """Stable, for programs: "driver_library"."""
    group: Group
    device: str | None
    """The GPU it is about, as `ExaminedGpu.device` has it; null where it is about none."""
    verdict: Verdict
    found: str
    """In words, one line."""
    do: str | None
    """What to do about it, one line; null where there is nothing to be done."""
    title: str
    """Its name for people: "driver library"."""


class ExaminedGpu(Struct, frozen=True, kw_only=True):
    """Which GPU a check's `device` means."""

    device: str
    """"gpu:0": numbered as `nvidia-smi` does, which need not be PyTorch's order."""
    name: str | None
    uuid: str | None


class NotRun(Struct, frozen=True, kw_only=True):
    """A check that needs PyTorch loaded, and it was not."""

    name: str
    title: str


class Examination(Struct, frozen=True, kw_only=True):
    """The whole of it; `schema` and `version` name the form of the JSON document."""

    schema: Literal["gputrain-doctor"] = "gputrain-doctor"
    version: Literal[1] = 1
    host: Host
    gpus: list[ExaminedGpu]
    checks: list[Check]
    not_run: list[NotRun]
    probe: Probe | None

    @property
    def problems(self) -> int:
        """How many checks found a problem."""
        return count(self.checks, "problem")

    @property
    def notes(self) -> int:
        """How many checks have a note."""
        return count(self.checks, "note")


def count(checks: Sequence[Check], verdict: Verdict) -> int:
    """How many checks have that verdict."""
    return sum(check.verdict == verdict for check in checks)
