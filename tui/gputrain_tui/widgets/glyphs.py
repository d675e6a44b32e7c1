"""The characters everything is drawn with, in one place: braille, block or plain ASCII.

Chosen once, before the first widget is made: `set_glyphs("ascii")`. It is one choice for the whole process
because it belongs to the terminal, of which a process has one. Texts in the program are written with →, ×, ▲
and …; the widgets of this folder pass theirs through `fit`, so they come out right everywhere.
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import Literal, get_args

from rich.cells import cell_len

GlyphName = Literal["braille", "block", "ascii"]

GLYPH_NAMES: tuple[GlyphName, ...] = get_args(GlyphName)

_REPLACEMENTS = {
    "→": "->",
    "←": "<-",
    "×": "x",
    "…": "...",
    "–": "-",
    "—": "-",
    "‒": "-",
    "−": "-",
    "·": "-",
    "•": "*",
    "●": "*",
    "○": "o",
    "▲": "^",
    "▼": "v",
    "▸": ">",
    "◂": "<",
    "─": "-",
    "━": "=",
    "│": "|",
    "┃": "|",
    "┤": "|",
    "├": "|",
    "┼": "+",
    "┴": "+",
    "┬": "+",
    "▕": "|",
    "▏": "|",
    "█": "#",
    "▓": "#",
    "▒": ":",
    "░": ".",
    "²": "^2",
    "³": "^3",
    "µ": "u",
    "μ": "u",
    "°": "",
    "≥": ">=",
    "≤": "<=",
    "≈": "~",
    "±": "+-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}
"""What stands in for each character in ASCII mode; anything else is taken apart or becomes `?`."""

_ONE_CELL = {"→": ">", "←": "<", "…": "~", "≥": ">", "≤": "<", "±": "~", "²": "2", "³": "3", "°": "'"}
"""Stand-ins of one cell for those whose text has another length."""

_chosen: GlyphName = "braille"


def set_glyphs(name: str) -> None:
    """Choose the characters for the whole process; ValueError where there is no such set."""
    global _chosen
    if name not in GLYPH_NAMES:
        raise ValueError(f"glyphs: found {name!r}, allowed: {', '.join(GLYPH_NAMES)}")
    _chosen = name


def glyphs() -> GlyphName:
    """The chosen set; it says what charts are drawn with."""
    return _chosen


def glyphs_for(encoding: str | None) -> GlyphName:
    """The set that a terminal with this encoding can show: braille in UTF-8, else ASCII."""
    try:
        return "braille" if codecs.lookup(encoding or "ascii").name == "utf-8" else "ascii"
    except LookupError:
        return "ascii"


def fit(text: str) -> str:
    """`text` as it can be shown: unchanged, or in ASCII mode with every other character replaced.

    The result may be longer or shorter than `text`: lay out what comes back, not what went in.
    """
    return in_ascii(text) if _chosen == "ascii" else text


def in_ascii(text: str) -> str:
    """`text` with every other character replaced, whatever set is chosen."""
    if text.isascii():
        return text
    return "".join(character if character.isascii() else _ascii(character) for character in text)


def fit_cell(character: str) -> str:
    """One character as it can be shown in just as many cells: the last resort, at the terminal's edge."""
    if _chosen != "ascii" or character.isascii():
        return character
    width = cell_len(character)
    plain = _ascii(character)
    return plain if len(plain) == width else _ONE_CELL.get(character, "?" * width)


def _ascii(character: str) -> str:
    if character in _REPLACEMENTS:
        return _REPLACEMENTS[character]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or "?"
