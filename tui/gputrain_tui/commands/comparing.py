"""What two files differ in, as lines: for comparisons of recordings and of sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gputrain_runner.recordings.compare import Difference

from .. import format
from .table import table


def differences(title: str, found: Sequence[Difference], label: Callable[[str], str]) -> list[str]:
    """A table of them under the title, and an empty line; `label` is what a name is shown as."""
    if not found:
        return [f"{title}: the same", ""]
    rows = [(f"  {label(each.name)}", _value(each.a), "→", _value(each.b)) for each in found]
    return [f"{title} that differ", *table(rows, left=(0, 1, 2, 3)), ""]


def _value(value: object) -> str:
    return format.UNKNOWN if value is None else f"{value:,}" if isinstance(value, int) else str(value)
