"""The look of the progress bar; imports Rich, which costs a moment."""

from __future__ import annotations

from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.progress import BarColumn, Progress, TextColumn

_ECHO_COLUMNS = 2
"""A terminal echoes `^C` at the cursor; where that wraps to a new line the bar would be drawn twice."""


class _RoomForEcho:
    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """All but the last columns."""
        yield Constrain(self._renderable, max(1, options.max_width - _ECHO_COLUMNS))


class _Bar(Progress):
    def get_renderable(self) -> RenderableType:
        """What is drawn."""
        return _RoomForEcho(super().get_renderable())


def progress_bar(stream: Any) -> Progress:
    """A bar with its description before it and the field `facts` behind it; drawn by `refresh` alone."""
    return _Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.fields[facts]}"),
        console=Console(file=stream, markup=False, highlight=False),
        auto_refresh=False,
        expand=True,
    )
