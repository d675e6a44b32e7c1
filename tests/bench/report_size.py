"""The page of a ten-minute session: how large it is, and how long a browser takes to open it and draw all.

    python tests/bench/report_size.py

Budgets: under 6 MB, open and drawn in under 2 s. Each opening is in a fresh browser, which has compiled nothing
of the page before.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import chromium
from gputrain_runner.report.telling import tell
from gputrain_tui.report import whole
from report_recordings import write_session

SESSION_S = 600.0
REPEATS = 5
MOST_BYTES = 6_000_000
MOST_S = 2.0


def opened_s(page: Path) -> float:
    """Seconds from asking for the page until its last chart is drawn."""
    with chromium.browser() as browser:
        browser.look()
        begun = time.perf_counter()
        browser.open(page)
        taken = time.perf_counter() - begun
        assert browser.complaints == [] and len(browser.requests) == 1
        return taken


def main() -> int:
    """Measure and print; 1 where a budget is exceeded."""
    with tempfile.TemporaryDirectory() as folder:
        recording = write_session(Path(folder) / "x.json", SESSION_S)
        page = Path(folder) / "x.html"
        begun = time.perf_counter()
        page.write_text("".join(whole.sessions([tell(recording)])), encoding="utf-8")
        made_s = time.perf_counter() - begun
        size = page.stat().st_size
        print(f"recording {recording.stat().st_size / 1e6:.1f} MB, page made in {made_s:.2f} s")
        print(f"page {size / 1e6:.2f} MB (at most {MOST_BYTES / 1e6:.0f})")
        if chromium.BROWSER is None:
            print("no Chromium here: not opened")
            return int(size > MOST_BYTES)
        times = sorted(opened_s(page) for _ in range(REPEATS))
        middle = statistics.median(times)
        spread = ", ".join(f"{taken:.2f}" for taken in times)
        print(f"opened and drawn in {middle:.2f} s, the median of {spread} (at most {MOST_S:g})")
        return int(size > MOST_BYTES or middle > MOST_S)


if __name__ == "__main__":
    sys.exit(main())
