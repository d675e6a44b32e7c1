"""Whole pages: one recording or sweep, or several of them side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version

from gputrain_runner.report.story import Story
from gputrain_runner.sweep.result import SweepFile

from .comparison import comparison, letter
from .html import Html, element, join, section, table
from .page import Page, library
from .session_page import session
from .sweep_charts import batches
from .sweep_page import comparison_table, sweep

OF_SESSIONS = (
    "Times are since the session began; rates and step times that are quoted are medians of steady samples. "
    "Drag over a chart to zoom its session's charts, double click to see all; charts draw at most two "
    "points, the lowest and the highest, for each stretch of time that a screen can tell apart."
)
OF_SWEEPS = "Drag over a chart to zoom it, double click to see all of it."


def sessions(stories: Sequence[Story]) -> Iterator[str]:
    """The page of recordings, in pieces.

    Raises:
        LibraryMissingError: the library that draws the charts is not installed.
    """
    packed = library()
    page = Page()
    if len(stories) == 1:
        title = f"{stories[0].preset_name}, {stories[0].header.session.started_at[:10]}"
        return page.pieces(
            title, join([session(page, stories[0], "session-1"), _made_by(OF_SESSIONS)]), packed
        )
    groups = [f"session-{number}" for number in range(1, len(stories) + 1)]
    heads = element("h1", f"{len(stories)} sessions side by side")
    parts: list[Html] = [heads, comparison(page, stories, groups)]
    for at, (story, group) in enumerate(zip(stories, groups, strict=True)):
        parts.append(session(page, story, group, heading="h2", mark=letter(at)))
    names = ", ".join(dict.fromkeys(story.preset_name for story in stories))
    return page.pieces(f"{names}: {len(stories)} sessions", join([*parts, _made_by(OF_SESSIONS)]), packed)


def sweeps(told: Sequence[tuple[str, SweepFile]]) -> Iterator[str]:
    """The page of sweeps, each with the path of its file, in pieces.

    Raises:
        LibraryMissingError: the library that draws the charts is not installed.
    """
    packed = library()
    page = Page()
    if len(told) == 1:
        path, one = told[0]
        body = join([sweep(page, one, "sweep-1", path), _made_by(OF_SWEEPS)])
        return page.pieces(f"Sweep, {one.started_at[:10]}", body, packed)
    marks = [letter(at) for at in range(len(told))]
    parts: list[Html] = [element("h1", f"{len(told)} sweeps side by side"), _side_by_side(told, marks)]
    for number, (path, one) in enumerate(told, start=1):
        parts.append(sweep(page, one, f"sweep-{number}", path, heading="h2", mark=marks[number - 1]))
    return page.pieces(f"{len(told)} sweeps", join([*parts, _made_by(OF_SWEEPS)]), packed)


def _side_by_side(told: Sequence[tuple[str, SweepFile]], marks: Sequence[str]) -> Html:
    """What each is, and the nets by the devices of all, for every batch size that more than one has."""
    files = [
        (
            element("a", mark, href=f"#sweep-{number}"),
            one.started_at[:19].replace("T", " "),
            element("code", path),
        )
        for number, (mark, (path, one)) in enumerate(zip(marks, told, strict=True), start=1)
    ]
    parts = [table(("", "started (UTC)", "file"), files, left=(0, 1, 2))]
    every = [one for _, one in told]
    for batch in sorted({size for one in every for size in batches(one)}, reverse=True):
        if sum(batch in batches(one) for one in every) > 1:
            parts += [element("h4", f"Batch {batch:,}, ms"), comparison_table(every, batch, marks)]
    return section("Side by side", *parts, note="Median time of a batch; missing: it did not fit.")


def _made_by(what: str) -> Html:
    return element("footer", f"Made by gputrain-tui {version('gputrain-tui')}. {what}")
