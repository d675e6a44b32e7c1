"""Lines made of runs of text, and fitting them to a width without cutting a word in two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from rich.cells import cell_len, set_cell_size

from .glyphs import fit

Role = Literal["", "dim", "strong", "accent", "warning", "segment", "segment-alt"]
"""How a run of text looks: the component class `lines--ROLE`, or the widget's own style for ""."""

ROLES: tuple[Role, ...] = get_args(Role)[1:]

PLAIN: Role = ""
FILLED: tuple[Role, ...] = ("segment", "segment-alt")
"""Roles with a background of their own, in which a space can be seen."""

Run = str | tuple[str, Role]
Line = str | Sequence[Run]
"""A line: plain text, or runs of text with their roles."""

Runs = tuple[tuple[str, Role], ...]
"""A line in its drawn form: showable characters, equal neighbours joined, nothing empty."""


def runs_of(line: Line) -> Runs:
    """`line` in its drawn form."""
    runs: list[tuple[str, Role]] = []
    given: Sequence[Run] = (line,) if isinstance(line, str) else line
    for run in given:
        text, role = (run, PLAIN) if isinstance(run, str) else run
        text = fit(text)
        # Spaces look the same in most roles: they join what precedes, which saves a change of style.
        if runs and (runs[-1][1] == role or (not text.strip(" ") and role not in FILLED)):
            runs[-1] = (runs[-1][0] + text, runs[-1][1])
        elif text:
            runs.append((text, role))
    return tuple(runs)


def width_of(line: Line) -> int:
    """Cells that `line` takes."""
    return sum(cell_len(text) for text, _ in runs_of(line))


def text_of(runs: Iterable[tuple[str, Role]]) -> str:
    """The characters alone."""
    return "".join(text for text, _ in runs)


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` cells: whole, or up to a word's end followed by an ellipsis.

    A first word that is longer than the width has no such end and is cut.
    """
    text = fit(text)
    if cell_len(text) <= width:
        return text
    ellipsis = fit("…")
    room = width - len(ellipsis)
    if room <= 0:
        return ellipsis[: max(0, width)]
    cut = set_cell_size(text, room)
    if not re.match(r"[,;:]? ", text[len(cut) :]) and " " in cut.strip(" "):
        cut = cut[: cut.rstrip(" ").rindex(" ")]
    return cut.rstrip(" ,;:") + ellipsis


_PATH = re.compile(r"(?<!\S)(?:~|\.{1,2})?/[^\s/]+/\S+")
"""A file's path within a text, with a folder that can be left out."""


def short_path(path: str, width: int) -> str:
    """`path` in `width` cells by leaving folders out in its middle, `~/…/sessions/x.json`.

    The file's name always stays whole, so the result may be longer where the name alone is.
    """
    if cell_len(fit(path)) <= width:
        return path
    head, *folders, name = path.split("/")
    # The last folders tell more than the first: they are left out last.
    for first in range(1, len(folders) + 1):
        short = "/".join([head, "…", *folders[first:], name])
        if cell_len(fit(short)) <= width:
            return short
    return f"…/{name}"


def with_short_paths(text: str, width: int) -> str:
    """`text` with the paths in it shortened in their middle until it fits `width` cells."""
    for match in reversed(list(_PATH.finditer(text))):
        excess = cell_len(fit(text)) - width
        if excess <= 0:
            break
        path = match[0]
        text = text[: match.start()] + short_path(path, cell_len(fit(path)) - excess) + text[match.end() :]
    return text


def fitted(runs: Runs, width: int) -> Runs:
    """`runs` in at most `width` cells, ending in an ellipsis at a word's end where they are too long."""
    text = text_of(runs)
    if cell_len(text) <= width:
        return runs
    short = shorten(text, width)
    kept: list[tuple[str, Role]] = []
    at = 0
    for run, role in runs:
        piece = short[at : at + len(run)]
        at += len(run)
        if piece:
            kept.append((piece, role))
    if at < len(short) and kept:
        kept[-1] = (kept[-1][0] + short[at:], kept[-1][1])
    return tuple(kept)


def wrapped(text: str, width: int, rows: int | None = None) -> list[str]:
    """`text` on at most `rows` lines, broken at spaces; the last one ends in an ellipsis if it must.

    Without `rows` it is on as many as it takes. A file's path that is longer than a line gives way in its
    middle.
    """
    text = fit(_PATH.sub(lambda match: short_path(match[0], width), text))
    lines: list[str] = []
    while (rows is None or rows > len(lines) + 1) and cell_len(text) > width:
        cut = set_cell_size(text, width + 1)
        at = cut.rfind(" ")
        if at <= 0:
            break
        lines.append(text[:at])
        text = text[at:].lstrip(" ")
    lines.append(shorten(with_short_paths(text, width), width))
    return lines


def padded(text: str, width: int, *, right: bool = False) -> str:
    """`text` filled up with spaces to `width` cells, on its left side if it is to stand at the right."""
    text = fit(text)
    gap = " " * max(0, width - cell_len(text))
    return gap + text if right else text + gap
