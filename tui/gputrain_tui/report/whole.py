"""Whole reports of sessions: the page's pieces, for one or for several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from gputrain_runner.report.story import Story

from .comparison import comparison, letter
from .html import Html, element, join
from .page import Page, library
from .session_page import session


def sessions(stories: Sequence[Story]) -> Iterator[str]:
    """The page of recordings, in pieces.

    Raises:
        LibraryMissingError: the library that draws the charts is not installed.
    """
    code = library()
    page = Page()
    if len(stories) == 1:
        title = f"{stories[0].preset_name}, {stories[0].header.session.started_at[:10]}"
        return page.pieces(title, join([session(page, stories[0], "session-1"), _made_by()]), code)
    groups = [f"session-{number}" for number in range(1, len(stories) + 1)]
    heads = element("h1", f"{len(stories)} sessions side by side")
    parts: list[Html] = [heads, comparison(page, stories, groups)]
    for at, (story, group) in enumerate(zip(stories, groups, strict=True)):
        parts.append(session(page, story, group, heading="h2", mark=letter(at)))
    names = ", ".join(dict.fromkeys(story.preset_name for story in stories))
    return page.pieces(f"{names}: {len(stories)} sessions", join([*parts, _made_by()]), code)


def _made_by() -> Html:
    told = (
        f"Made by gputrain-tui {version('gputrain-tui')}. Times are since the session began; rates and "
        "step times that are quoted are medians of steady samples. Drag over a chart to zoom its session's "
        "charts, double click to see all; charts draw at most two points, the lowest and the highest, for "
        "each stretch of time that a screen can tell apart."
    )
    return element("footer", told)
