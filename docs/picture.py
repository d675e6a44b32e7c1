"""Takes the README's picture: the real app at work on the CPU, as Textual exports it.

python docs/picture.py OUT.svg
"""

from __future__ import annotations

import asyncio
import sys

import gputrain_presets
from gputrain_tui.app import GpuTrainApp
from gputrain_tui.live_sessions import LiveSessions
from gputrain_tui.sessions import AppOptions

KEYS = [(16, "b"), (12, "b"), (16, "")]
"""What is pressed, each after so many seconds."""


async def picture(path: str) -> None:
    """Train for most of a minute, turn the batch size, and keep what the screen shows."""
    sessions = LiveSessions(AppOptions(record=True, command=("gputrain-tui",)))
    app = GpuTrainApp(sessions, sessions.open(gputrain_presets.load("keras-mnist-mlp")))
    async with app.run_test(size=(150, 44)) as pilot:
        for seconds, key in KEYS:
            await asyncio.sleep(seconds)
            if key:
                await pilot.press(key)
        app.save_screenshot(path)
    sessions.leave("finished")


if __name__ == "__main__":
    asyncio.run(picture(sys.argv[1]))
