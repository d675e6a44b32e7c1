"""The page in a real browser, opened from disk: nothing is complained of, nothing asked for, all is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")

import chromium
from gputrain_runner.report.telling import tell
from gputrain_tui.report import whole
from report_recordings import write_session

pytestmark = pytest.mark.skipif(chromium.BROWSER is None, reason="there is no Chromium here")

CHARTS = "[...document.querySelectorAll('.chart')]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    stories = [tell(write_session(folder / f"{name}.json", 60.0)) for name in "ab"]
    path = folder / "x.html"
    path.write_text("".join(whole.sessions(stories)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser(page: Path) -> Iterator[chromium.Browser]:
    with chromium.browser() as opened:
        opened.look()
        opened.open(page)
        yield opened


def test_it_opens_from_disk_without_a_complaint_or_a_request(browser: chromium.Browser, page: Path) -> None:
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]


def test_every_chart_is_drawn(browser: chromium.Browser) -> None:
    drawn = browser.value(
        f"{CHARTS}.map((box) => box.querySelectorAll('.scatterlayer path.js-line, .scatterlayer path.point, "
        ".barlayer path').length)"
    )
    assert len(drawn) == 33 and all(drawn)
    assert browser.value(f"{CHARTS}.every((box) => box.scrollWidth <= box.clientWidth + 1)")
    assert browser.value("document.documentElement.scrollWidth <= window.innerWidth")


def test_charts_follow_the_colours_of_light_dark_and_paper(browser: chromium.Browser) -> None:
    ink = "getComputedStyle(document.querySelector('.chart .xtick text')).fill"
    page = "getComputedStyle(document.body).backgroundColor"
    browser.look()
    assert (browser.value(ink), browser.value(page)) == ("rgb(89, 98, 109)", "rgb(245, 246, 248)")
    browser.look(dark=True)
    assert (browser.value(ink), browser.value(page)) == ("rgb(160, 169, 180)", "rgb(16, 19, 23)")
    browser.look(dark=True, paper=True)
    assert (browser.value(ink), browser.value(page)) == ("rgb(77, 84, 92)", "rgb(255, 255, 255)")
    browser.look()


def test_on_paper_a_chart_is_as_wide_as_its_place(browser: chromium.Browser) -> None:
    browser.look(paper=True, width=700)
    wide = browser.value(
        f"{CHARTS}.every((box) => [...box.querySelectorAll('.main-svg')].every((svg) => "
        "Math.abs(svg.getBoundingClientRect().width - box.getBoundingClientRect().width) < 2))"
    )
    printed = browser.print_out()
    browser.look()
    assert wide
    assert printed.startswith(b"%PDF") and len(printed) > 50_000


def test_zooming_into_one_chart_zooms_the_others_of_its_session_alone(browser: chromium.Browser) -> None:
    start = browser.value("document.getElementById('chart-2').fullRange[0]")
    part = [start + 10_000, start + 20_000]
    browser.value(
        f"Plotly.relayout('chart-2', {{'xaxis.range[0]': {part[0]}, 'xaxis.range[1]': {part[1]}}}) && 0"
    )
    whole_session, zoomed = (
        f"{CHARTS}.filter((box) => box._fullLayout.xaxis.type === 'date' && "
        f"box.closest('article').id === '{session}').map((box) => "
        "box._fullLayout.xaxis.range.map((end) => new Date(end + (end.at ? 'Z' : '')).getTime()).join())"
        for session in ("session-2", "session-1")
    )
    browser.wait_for(f"{zoomed}.every((range) => range === '{part[0]},{part[1]}')")
    assert len(browser.value(zoomed)) > 10
    assert browser.value(f"{whole_session}.every((range) => range.startsWith('{start},'))")
