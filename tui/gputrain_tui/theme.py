"""The colours: the terminal's own background and text, one grey, one accent, one warning.

Keeping the terminal's own background suits light and dark terminals alike and is the cheapest to send. The
greys and accents are picked from the 256 colours; a terminal with 16 gets named ones of its own palette.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.theme import Theme


@dataclass(frozen=True, slots=True)
class Colours:
    """One set of them."""

    dim: str
    accent: str
    warning: str
    rule: str


RICH = Colours(dim="#808080", accent="#00afd7", warning="#d78700", rule="#585858")
PLAIN = Colours(dim="ansi_bright_black", accent="ansi_cyan", warning="ansi_yellow", rule="ansi_bright_black")


def for_terminal(colour_system: str | None, *, ascii_only: bool) -> Theme:
    """The theme for what Rich calls the terminal's colour system, framed with characters it can show."""
    colours = RICH if colour_system in ("256", "truecolor") else PLAIN
    dim, accent, warning, rule = colours.dim, colours.accent, colours.warning, colours.rule
    own = "ansi_default"
    return Theme(
        name="gputrain",
        ansi=True,
        primary=accent,
        secondary=accent,
        accent=accent,
        warning=warning,
        error=warning,
        success=accent,
        foreground=own,
        background=own,
        surface=own,
        panel=own,
        boost=own,
        variables={
            "ansi-background": own,
            "ansi-foreground": own,
            "screen-selection-background": accent,
            "screen-selection-foreground": own,
            "text-muted": dim,
            "foreground-muted": dim,
            "rule": rule,
            "line": "ascii" if ascii_only else "solid",
            "frame": "ascii" if ascii_only else "round",
            # Scroll bars are drawn with blocks.
            "scroll": "0" if ascii_only else "1",
            "border": rule,
            "border-blurred": rule,
            "scrollbar": rule,
            "scrollbar-hover": dim,
            "scrollbar-active": dim,
            "scrollbar-background": own,
            "scrollbar-background-hover": own,
            "scrollbar-background-active": own,
            "scrollbar-corner-color": own,
            "block-cursor-foreground": own,
            "block-cursor-background": own,
            "block-cursor-text-style": "bold reverse",
            "input-cursor-foreground": own,
            "input-cursor-background": own,
            "input-cursor-text-style": "reverse",
            "input-selection-background": accent,
            "input-selection-foreground": own,
        },
    )
