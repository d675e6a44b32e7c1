"""The page of sessions: what it tells, and that it is one file that holds its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")

from plotly.graph_objects import Figure

from gputrain_runner.recorder import Recorder
from gputrain_runner.report.telling import tell
from gputrain_runner.timeline import Entry
from gputrain_tui.report import html, markdown, whole
from report_recordings import write_session
from report_texts import charts, read
from timelines import change, header, message, sample, summary

TITLE = 'a <script>alert("x")</script> & </main> title'


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_session(tmp_path_factory.mktemp("page") / "x.json", 80.0, title=TITLE)


@pytest.fixture(scope="module")
def page(recording: Path) -> str:
    return "".join(whole.sessions([tell(recording)]))


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    reader = read(page)
    assert all(reference.startswith("#") for reference in reader.references)
    assert not {"link", "img", "iframe", "object", "base"} & set(reader.tags)
    assert "default-src 'none'" in page
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style and "@import" not in style


def test_whatever_a_preset_says_is_text(page: str) -> None:
    reader = read(page)
    assert TITLE in reader.text
    assert reader.tags.count("script") == 3, "the charts, the library and what draws them"
    assert "<b>something</b> & other at 0 s" in reader.text


def test_the_story_is_told(page: str) -> None:
    text = read(page).text
    for told in (
        "NVIDIA H200 (cuda:0)",
        "batch 128 → 256",
        "×3.60 (3.49–3.71)",
        "×4.10",
        "the launches that remain were not free",
        "could not be made: out of memory",
        "Launch-bound",
        "busy 21 %, though the driver reports 61 % utilisation",
        "at most ×4.3",
        "CUDA graph",
        "Transfer-bound.",
        "103.7 s per 10 epochs",
        "fp32 51.0 TFLOP/s",
        "'a name with spaces.json'",
        "Clocks were held back: sw power cap 12.5 s",
    ):
        assert told in text, told


def test_a_remedy_shows_what_was_predicted_beside_what_was_measured(page: str) -> None:
    assert "CUDA graph ×4.1 (3.4–4.6) ×3.60 (3.49–3.71) yes one launch" in read(page).text


def test_every_chart_keeps_the_library_s_schema_and_has_its_place(page: str) -> None:
    reader = read(page)
    told = charts(reader)
    assert len(told) == 16
    for chart in told:
        Figure(data=chart["data"], layout=chart["layout"])  # It refuses what its schema does not know.
        assert f'id="{chart["id"]}"' in page
        assert any(len(trace.get("x", [])) for trace in chart["data"])


def test_charts_are_thinned_and_keep_the_extremes(tmp_path: Path) -> None:
    path = write_session(tmp_path / "long.json", 700.0)
    story = tell(path)
    (throughput,) = [
        chart
        for chart in charts(read("".join(whole.sessions([story]))))
        if chart["layout"]["yaxis"]["title"]["text"] == "samples/s"
    ]
    drawn = [value for value in throughput["data"][0]["y"] if value is not None]
    measured = story.samples.values("samples_per_s")
    assert len(drawn) <= 1000 < len(measured)
    assert max(drawn) == pytest.approx(max(measured), rel=1e-4)
    assert min(drawn) == pytest.approx(min(measured), rel=1e-4)


def test_a_bare_session_makes_a_page_too(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json", header(torch="2.13"))
    told: list[Entry] = [sample(0.25), change(0.5, ok=False), message(1.0)]
    for position, entry in enumerate(told):
        recorder.write(position, entry)
    recorder.complete(summary())
    reader = read("".join(whole.sessions([tell(tmp_path / "x.json")])))
    assert 'tiny: quotes " and new lines' in reader.text
    assert "could not be made: out of memory" in reader.text


def test_an_empty_session_makes_a_page_too(tmp_path: Path) -> None:
    Recorder(tmp_path / "x.json", header())
    reader = read("".join(whole.sessions([tell(tmp_path / "x.json")])))
    assert "cut off or still being written" in reader.text and charts(reader) == []


def test_several_sessions_are_compared_at_the_top(recording: Path, tmp_path: Path) -> None:
    other = write_session(tmp_path / "y.json", 60.0)
    reader = read("".join(whole.sessions([tell(recording), tell(other)])))
    text = reader.text
    assert text.index("Side by side") < text.index("What was turned")
    assert re.search(r"samples/s [\d,]+ [\d,]+ ×(0\.99\d|1\.00|1\.01)", text)
    assert "The settings are the same in all." in text
    assert reader.references.count("#session-1") == 1
    ids = [chart["id"] for chart in charts(reader)]
    assert len(ids) == len(set(ids)) == 33


def test_the_same_in_markdown_is_short_and_has_no_markup_of_others(recording: Path) -> None:
    text = "".join(markdown.sessions([tell(recording)]))
    assert len(text) < 4000
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert "×3.60 (3.49–3.71) | ×4.10 |" in text
    assert "**Compute-bound" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 5}


def test_html_is_escaped_unless_it_is_html() -> None:
    inner = html.element("b", "1 < 2", title='"quoted" & <tagged>')
    assert html.element("p", inner, "<i>") == (
        '<p><b title="&quot;quoted&quot; &amp; &lt;tagged&gt;">1 &lt; 2</b>&lt;i&gt;</p>'
    )
    assert html.section("empty", html.Html("")) == ""
