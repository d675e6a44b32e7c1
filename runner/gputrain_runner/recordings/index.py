"""Where each entry of a recording lies in its file, so that none has to be read before it is wanted.

The recorder writes one entry a line, its kind and time first; so the lines alone tell all that is needed
to find a moment in hundreds of megabytes. A recording that other tools have rewritten (`jq .`) has no
such lines: it is parsed whole.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field

KINDS = ("sample", "change", "effect", "verdict", "message", "other")
"""Kinds by their number in an index; what this version does not know is `other`."""
_NUMBER = {kind.encode(): number for number, kind in enumerate(KINDS)}
_OTHER = len(KINDS) - 1

_OPENING = re.compile(rb'"timeline"\s*:\s*\[')
_ENTRY = re.compile(rb'\s*\{"kind":"(\w+)","t":(-?[0-9][0-9.eE+-]*)')
_LEAST_READ = 1 << 16


@dataclass(slots=True)
class Index:
    """The entries of a file: offset and length in bytes, kind as a number of `KINDS`, time in seconds."""

    offsets: array[int] = field(default_factory=lambda: array("Q"))
    lengths: array[int] = field(default_factory=lambda: array("L"))
    kinds: bytearray = field(default_factory=bytearray)
    times: array[float] = field(default_factory=lambda: array("d"))

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, offset: int, line: bytes) -> bool:
        """Take in the entry in this line of the file; whether the line is one."""
        matched = _ENTRY.match(line)
        if matched is None:
            return False
        end = len(line.rstrip(b", \r\n"))
        begin = matched.start() + len(line) - len(line.lstrip())
        self.offsets.append(offset + begin)
        self.lengths.append(end - begin)
        self.kinds.append(_NUMBER.get(matched[1], _OTHER))
        self.times.append(float(matched[2]))
        return True


def opening(head: bytes) -> int | None:
    """The offset behind the bracket that opens the timeline; None where it is not in `head`."""
    matched = _OPENING.search(head)
    return None if matched is None else matched.end()
