"""The page of a ten-minute session: how large it is, and how long a browser takes to open it and draw all.

Each opening is in a fresh browser, which has compiled nothing of the page before. Opened is measured in the
page: from navigation until its last chart is drawn.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import line, median, spread  # First: it makes the other helpers of the tests importable.

# isort: split
import chromium
from gputrain_runner.report.telling import tell
from gputrain_tui.report import whole
from report_recordings import write_session

SESSION_S = 600.0
REPEATS = 5
SCREEN = "document.documentElement.dataset.screenMs / 1000"
SEEN = "performance.getEntriesByType('paint')[0].startTime / 1000"
DRAWN = "document.documentElement.dataset.drawnMs / 1000"


def measure() -> list[dict[str, Any]]:
    """Size and time to make of the page; where there is a browser, when it is seen and when all is drawn."""
    with tempfile.TemporaryDirectory() as folder:
        recording = write_session(Path(folder) / "x.json", SESSION_S)
        page = Path(folder) / "x.html"
        begun = time.perf_counter()
        page.write_text("".join(whole.sessions([tell(recording)])), encoding="utf-8")
        made_s = time.perf_counter() - begun
        size_mb = page.stat().st_size / 1e6
        detail = f"made in {made_s:.2f} s from {recording.stat().st_size / 1e6:.1f} MB"
        told = [line("report of 10 minutes: page", size_mb, "MB", "<= 6", size_mb <= 6, detail)]
        if chromium.BROWSER is None:
            print("report: there is no Chromium here to open it")
            return told
        times = [_opened_s(page) for _ in range(REPEATS)]
    seen, screen, drawn = (sorted(each) for each in zip(*times, strict=True))
    most = median(drawn)
    detail = f"{spread(drawn)}; words after {median(seen):.2f}, the first screen after {median(screen):.2f}"
    return [*told, line("report of 10 minutes: opened, all drawn", most, "s", "<= 2", most <= 2, detail)]


def _opened_s(page: Path) -> tuple[float, float, float]:
    """Seconds until the page's words are seen, until its first screen is whole, and until all is drawn."""
    with chromium.browser() as browser:
        browser.look()
        browser.open(page)
        assert browser.complaints == [] and len(browser.requests) == 1
        return browser.value(SEEN), browser.value(SCREEN), browser.value(DRAWN)


if __name__ == "__main__":
    measure()
