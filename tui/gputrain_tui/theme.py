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


OWN = "ansi_default"
"""The terminal's own text or background."""


def for_terminal(colour_system: str | None, *, ascii_only: bool) -> Theme:
    """The theme for what Rich calls the terminal's colour system, framed with characters it can show."""
    colours = RICH if colour_system in ("256", "truecolor") else PLAIN
    return Theme(
        name="gputrain",
        ansi=True,
        primary=colours.accent,
        secondary=colours.accent,
        accent=colours.accent,
        warning=colours.warning,
        error=colours.warning,
        success=colours.accent,
        foreground=OWN,
        background=OWN,
        surface=OWN,
        panel=OWN,
        boost=OWN,
        variables=_variables(colours) | _borders(ascii_only=ascii_only),
    )


def _variables(colours: Colours) -> dict[str, str]:
    """What the style sheets, Textual's included, name: ours and those of the widgets we show."""
    own = [
        *("ansi-background", "ansi-foreground", "block-cursor-foreground", "block-cursor-background"),
        *("input-cursor-foreground", "input-cursor-background", "input-selection-foreground"),
        *("scrollbar-background", "scrollbar-background-hover", "scrollbar-background-active"),
        *("scrollbar-corner-color", "screen-selection-foreground"),
    ]
    return {
        **dict.fromkeys(own, OWN),
        **dict.fromkeys(
            ("text-muted", "foreground-muted", "scrollbar-hover", "scrollbar-active"), colours.dim
        ),
        **dict.fromkeys(("rule", "border", "border-blurred", "scrollbar"), colours.rule),
        **dict.fromkeys(("screen-selection-background", "input-selection-background"), colours.accent),
        "block-cursor-text-style": "bold reverse",
        "input-cursor-text-style": "reverse",
    }


def _borders(*, ascii_only: bool) -> dict[str, str]:
    """The kinds of border; a scroll bar is drawn with blocks, so it goes where there is ASCII alone."""
    if ascii_only:
        return {"line": "ascii", "frame": "ascii", "scroll": "0"}
    return {"line": "solid", "frame": "round", "scroll": "1"}
