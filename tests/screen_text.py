"""What a running app shows, as text."""

from __future__ import annotations

from typing import Any

from textual.app import App
from textual.strip import Strip


def screen_rows(app: App[Any]) -> list[Strip]:
    """The rows of the screen, with their styles."""
    # Textual has no public way to the composed screen; it is taken here and nowhere else.
    return app.screen._compositor.render_strips()


def screen_text(app: App[Any]) -> str:
    """The rows of the screen, without trailing spaces."""
    return "\n".join(row.text.rstrip() for row in screen_rows(app))
