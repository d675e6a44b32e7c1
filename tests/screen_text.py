"""What a running app shows, as text; and the app over a session that a test feeds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip

from fake_feed import FakeSession, FakeSessions
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.screens.training import TrainingScreen


def screen_rows(app: App[Any]) -> list[Strip]:
    """The rows of the screen, with their styles."""
    # Textual has no public way to the composed screen; it is taken here and nowhere else.
    return app.screen._compositor.render_strips()


def screen_text(app: App[Any]) -> str:
    """The rows of the screen, without trailing spaces."""
    return "\n".join(row.text.rstrip() for row in screen_rows(app))


SIZES = [(80, 24), (120, 40), (160, 48)]


@asynccontextmanager
async def training(session: FakeSession, size: tuple[int, int] = (160, 48)) -> AsyncIterator[Pilot[None]]:
    """The app over a session that runs already."""
    async with GpuTrainApp(FakeSessions(), session).run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot


async def look(pilot: Pilot[None]) -> str:
    """The screen's text after it has taken in all that the feed has."""
    screen = pilot.app.screen
    if isinstance(screen, TrainingScreen):
        screen.pull()
        screen.redraw()
        await pilot.pause()
        screen.redraw()
    await pilot.pause()
    return screen_text(pilot.app)
