"""What a check is made of: its name, the one thing it looks at, and what it can say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from .examination import Verdict
from .facts import Facts, GpuFacts


@dataclass(frozen=True, slots=True)
class Result:
    """What a check says."""

    verdict: Verdict
    found: str
    do: str | None = None


NOT_TOLD: Final = Result("note", "n/a")
"""Said where card or driver do not tell what the check wants to know; gathered into one line per GPU."""


def ok(found: str) -> Result:
    """It is as it should be."""
    return Result("ok", found)


def note(found: str, do: str | None = None) -> Result:
    """Worth knowing, but no fault."""
    return Result("note", found, do)


def problem(found: str, do: str) -> Result:
    """It stops or slows training, and `do` mends it."""
    return Result("problem", found, do)


@dataclass(frozen=True, slots=True)
class Unit:
    """A check of the machine; it says None where it does not apply."""

    name: str
    title: str
    examine: Callable[[Facts], Result | None]
    needs_torch: bool = False
    """It can say something only once PyTorch was loaded (`Facts.torch.loaded`)."""


@dataclass(frozen=True, slots=True)
class GpuUnit:
    """A check made of each GPU; it says None where it does not apply."""

    name: str
    title: str
    examine: Callable[[Facts, GpuFacts], Result | None]
    needs_torch: bool = False
