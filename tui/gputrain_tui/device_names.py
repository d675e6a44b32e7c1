"""Devices' names as short as they still tell what it is: vendors and what all names hold are left out."""

from __future__ import annotations

import re

_MARKS = re.compile(r"\((?:r|tm|c)\)|[®™©]", re.IGNORECASE)
_NOISE = re.compile(
    r"""\s@\s.*$                 # a clock rate
    | \swith\sRadeon.*$ | \sw/\s.*$
    | \b\d+(?:st|nd|rd|th)\sGen\b
    | \b\d+-Cores?\b
    | \b(?:NVIDIA|GeForce|AMD|Intel|Core|CPU|GPU|Processor|Generation)\b""",
    re.VERBOSE,
)


def short(name: str) -> str:
    """`EPYC 9V74` of `AMD EPYC 9V74 80-Core Processor`, `RTX 4090` of `NVIDIA GeForce RTX 4090`."""
    kept = " ".join(_NOISE.sub(" ", _MARKS.sub("", name)).split())
    return kept or name


def beside(device: str | None, name: str | None) -> str:
    """A device in a list: a GPU by its short name, a CPU as `cpu EPYC 9V74`; "" where nothing is known."""
    if not name or name == device:
        return device or ""
    return f"cpu {short(name)}" if device == "cpu" else short(name)
