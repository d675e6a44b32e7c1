"""How a page opens: what of the library is started, what has loaded means, and paper that does not wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")

import chromium
from gputrain_runner.report.telling import tell
from gputrain_tui.report import whole
from gputrain_tui.report.quick_start import DRAWN
from report_recordings import write_session

pytestmark = pytest.mark.skipif(chromium.BROWSER is None, reason="there is no Chromium here")

EMPTY = "document.querySelectorAll('.chart:not(:has(.main-svg[viewBox]))').length"
PRINTED_EARLY = f"""\
let library;
Object.defineProperty(window, "Plotly", {{
  get: () => library,
  set: (value) => {{
    library = value;
    queueMicrotask(async () => {{
      window.emptyBefore = {EMPTY};
      dispatchEvent(new Event("beforeprint"));
      for (let turn = 0; turn < 9; turn++) await null;
      window.emptyAfter = {EMPTY};
    }});
  }},
}});
"""
"""Prints when the library has just been started, before the first chart is drawn."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opening")
    path = folder / "x.html"
    path.write_text("".join(whole.sessions([tell(write_session(folder / "x.json", 60.0))])), "utf-8")
    return path


@pytest.fixture
def browser() -> Iterator[chromium.Browser]:
    with chromium.browser() as opened:
        opened.look()
        yield opened


def test_only_the_kinds_of_charts_that_pages_have_are_started(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    assert browser.value("Object.keys(Plotly.PlotSchema.get().traces)") == list(DRAWN)


def test_a_page_has_loaded_once_all_is_drawn(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    browser.wait_for("performance.getEntriesByType('navigation')[0].loadEventStart > 0")
    drawn, loaded = browser.value(
        "[Number(document.documentElement.dataset.drawnMs), "
        "performance.getEntriesByType('navigation')[0].loadEventStart]"
    )
    assert 0 < drawn <= loaded + 1
    assert browser.value("document.querySelector('iframe')") is None


def test_printed_early_it_has_all_its_charts_once(browser: chromium.Browser, page: Path) -> None:
    browser.ask("Page.addScriptToEvaluateOnNewDocument", source=PRINTED_EARLY)
    browser.open(page)
    browser.wait_for("window.emptyAfter !== undefined")
    charts = browser.value("document.querySelectorAll('.chart').length")
    assert browser.value("[emptyBefore, emptyAfter]") == [charts, 0]
    assert browser.value("document.querySelectorAll('.chart > .plot-container').length") == charts
    assert browser.complaints == []
