"""What can be said of the terminal before anything is drawn on it."""

from __future__ import annotations

import os
import sys

from .widgets.glyphs import GlyphName, glyphs_for


def unusable() -> str | None:
    """Why the app cannot run on this terminal, in one line; None where it can."""
    for name, stream in (("input", sys.__stdin__), ("error output", sys.__stderr__)):
        # Textual reads keys from the one and draws on the other; without them it could not be quit.
        if stream is None or not stream.isatty():
            return f"the app needs a terminal, standard {name} is none; `gputrain-tui run PRESET` does not"
    term = os.environ.get("TERM", "")
    if term in ("", "dumb"):
        return f"the app cannot draw on a terminal of type {term or '(TERM is not set)'!r}; try TERM=xterm"
    return None


def glyphs() -> GlyphName:
    """The characters this terminal can show."""
    if glyphs_for(sys.__stderr__.encoding if sys.__stderr__ is not None else None) == "ascii":
        return "ascii"
    # The Linux console's fonts have blocks and frames, but no braille.
    return "block" if os.environ.get("TERM") == "linux" else "braille"


def limit_colours() -> None:
    """Have true colours sent as the 256 they are picked from: they look the same in half the bytes.

    Must be called before Textual is imported, which reads the variable once.
    """
    if os.environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        os.environ.setdefault("TEXTUAL_COLOR_SYSTEM", "256")
