"""The page: one file with its style, its charts and the library that draws them."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from importlib.resources import files

import msgspec

from .charts import Chart
from .html import Html, element, escape, join
from .quick_start import quick_to_start

_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)
"""What a browser may load for this page: nothing but what is in it."""


class LibraryMissingError(Exception):
    """The library that draws the charts is not installed; the text is one line for the user."""


def library() -> str:
    """The chart library's code for browsers, packed (gzip, base64): a third of its size.

    Raises:
        LibraryMissingError: it is not installed.
    """
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise LibraryMissingError(
            "the page needs the chart library Plotly: pip install 'gputrain-tui[report]' "
            "(.md, .csv and .trace.json work without it)"
        ) from None
    code = quick_to_start(get_plotlyjs())
    return base64.b64encode(gzip.compress(code.encode(), mtime=0)).decode()


class Page:
    """A page being put together."""

    def __init__(self) -> None:
        self._charts: list[dict[str, object]] = []

    def chart(self, chart: Chart) -> Html:
        """The place of a chart, which is drawn when the page opens."""
        name = f"chart-{len(self._charts) + 1}"
        self._charts.append({"id": name, "group": chart.group, "data": chart.data, "layout": chart.layout})
        caption = [element("figcaption", chart.note)] if chart.note else []
        box = element("div", id=name, class_="chart", style=f"height:{chart.height}px")
        title = [element("h4", chart.title)] if chart.title else []
        return element("figure", *title, box, *caption)

    def charts(self, charts: list[Chart]) -> Html:
        """Several, those that are half as wide in pairs."""
        whole = [self.chart(chart) for chart in charts if not chart.half]
        halves = [self.chart(chart) for chart in charts if chart.half]
        return join([*whole, element("div", *halves, class_="halves") if halves else Html("")])

    def pieces(self, title: str, body: Html, packed_library: str) -> Iterator[str]:
        """The whole document in pieces."""
        own = files(__package__)
        yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        yield '<meta name="generator" content="gputrain-tui">\n'
        yield f"<title>{escape(title)}</title>\n"
        yield f"<style>\n{(own / 'page.css').read_text(encoding='utf-8')}</style>\n</head>\n<body>\n"
        yield f"<main>{body}</main>\n"
        yield f'<script type="application/json" id="charts">{_in_script(self._charts)}</script>\n'
        yield f'<script type="text/plain" id="library">{packed_library}</script>\n'
        yield f"<script>\n{(own / 'page.js').read_text(encoding='utf-8')}</script>\n</body>\n</html>\n"


def _in_script(charts: object) -> str:
    """JSON that cannot end the element that it stands in."""
    return msgspec.json.encode(charts).decode().replace("<", "\\u003c")
