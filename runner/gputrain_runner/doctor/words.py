"""How the doctor writes amounts and lists; the screens' own formats are not the runner's to use."""

from __future__ import annotations

from collections.abc import Sequence

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def memory(value_bytes: float) -> str:
    """`1.2 GiB`, `24 GiB`, `412 MiB`."""
    at = 0
    while at < len(_UNITS) - 1 and abs(value_bytes) >= 1023.5:
        value_bytes /= 1024
        at += 1
    return f"{value_bytes:.{int(at > 0 and abs(value_bytes) < 9.95)}f} {_UNITS[at]}"


def some(words: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 5 more`."""
    shown = list(words[:most])
    rest = len(words) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def plain(text: str, most: int = 400) -> str:
    """A text from elsewhere as one line of printable characters, of a length that can be read."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else f"{line[: most - 3]}..."


def phrase(sentence: str) -> str:
    """A sentence as the doctor writes: without its capital and its last stop."""
    text = sentence.rstrip(".: ")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
