"""Widgets in an app of their own, and what drawing them costs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.color import ColorSystem
from textual._compositor import CompositorUpdate
from textual.app import ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from gputrain_tui import theme
from gputrain_tui.cell_diff import FrugalApp


class Shown(FrugalApp[None]):
    """Shows widgets in 256 colours, with the program's own theme, and keeps what a terminal would be sent."""

    CSS = "Screen { overflow: hidden hidden; }"

    def __init__(self, *widgets: Widget, diff: bool = True) -> None:
        super().__init__(ansi_color=True)
        self._widgets = widgets
        self._diff = diff
        self.sent: list[str] = []
        look = theme.for_terminal("256", ascii_only=False)
        self.register_theme(look)
        self.theme = look.name
        self.console._color_system = ColorSystem.EIGHT_BIT

    def compose(self) -> ComposeResult:
        yield from self._widgets

    def _display(self, screen: Screen[object], renderable: object) -> None:
        update = self.reduced(renderable) if self._diff else renderable
        # Without a terminal nothing is rendered; this renders it as for one.
        if isinstance(update, CompositorUpdate) and self._running and not self._batch_count:
            self.sent.append(update.render_segments(self.console))

    def take_sent(self) -> bytes:
        """What was sent since the last call."""
        sent = "".join(self.sent).encode()
        self.sent.clear()
        return sent

    def rows(self) -> list[str]:
        """The screen's rows, without trailing spaces."""
        return [strip.text.rstrip() for strip in self.screen._compositor.render_strips()]


@asynccontextmanager
async def shown(
    *widgets: Widget, size: tuple[int, int], diff: bool = True
) -> AsyncIterator[tuple[Shown, Pilot[None]]]:
    """An app with these widgets on a screen of this size, drawn once."""
    app = Shown(*widgets, diff=diff)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.take_sent()
        yield app, pilot
