"""Sweeps as pages, tables and texts."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs

from gputrain_runner.report.beside import of_sweep
from gputrain_tui.report import markdown
from report_recordings import write_session
from report_sweeps import BATCHES, sweep, write_sweep
from report_texts import charts, read


def report(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gputrain_tui", "report", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


def page_of(*files: str) -> str:
    pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")
    from gputrain_tui.report import whole

    return "".join(whole.sweeps([(file, sweep()) for file in files]))


def test_the_page_has_the_published_layout_with_missing_for_what_did_not_fit() -> None:
    text = read(page_of("s.json")).text.replace("\N{NO-BREAK SPACE}", " ")
    assert "Batch 128, ms net NVIDIA H200 (cuda:0): forward NVIDIA H200 (cuda:0): forward+backward" in text
    assert "alexnet ×1 51.33 154.00 1,283.33 3,850.00" in text
    assert "vgg 11 missing missing 6,416.67 19,250.00" in text
    assert "out of memory: 9.2 GiB asked for <here>" in text
    assert "slower than the line: batch 8" in text
    assert "A CPU (cpu), forward+backward" in text


def test_the_curves_have_the_fitted_line_and_the_published_figures() -> None:
    from plotly.graph_objects import Figure

    told = charts(read(page_of("s.json")))
    assert len(told) == 1 + 2 * 3, "the nets at the largest batch; time and time per sample of each net"
    for chart in told:
        Figure(data=chart["data"], layout=chart["layout"])
    alexnet = told[1]["data"]
    measured = next(trace for trace in alexnet if trace["name"] == "cuda:0 forward+backward")
    assert measured["x"] == list(BATCHES)
    assert measured["y"][-1] == pytest.approx(0.4 + 1.2 * 128)
    line = alexnet[alexnet.index(measured) + 1]
    assert line["name"] == "fit" and line["y"][-1] == pytest.approx(0.4 + 1.2 * 128, rel=0.05)
    published = next(trace for trace in alexnet if trace["name"] == "published")
    assert any("NVIDIA" in text for text in published["text"])
    assert len(published["x"]) == len(published["y"]) > 5


def test_published_figures_are_compared_with_the_same_passes_and_size() -> None:
    told = sweep()
    pairs = of_sweep(told)
    assert set(pairs) == {"alexnet", "vgg", "googlenet"}
    for pair in pairs["vgg"]:
        assert pair.measured.settings.passes == pair.figure.passes
        assert pair.measured.settings.model_size == (pair.figure.size or "11")
    large = next(pair for pair in pairs["vgg"] if pair.figure.batch_size == 128)
    assert (large.measured.settings.device, large.measured.settings.batch_size) == ("cuda:0", 64), (
        "128 is missing"
    )
    figure = next(pair for pair in pairs["alexnet"] if pair.figure.passes == "forward" and pair.ratio)
    assert figure.measured.settings.batch_size in BATCHES


def test_one_net_at_few_batch_sizes_has_its_table_alone() -> None:
    pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")
    from gputrain_tui.report import whole

    made = sweep(batches=(64,), nets=("alexnet",))
    reader = read("".join(whole.sweeps([("s.json", made)])))
    assert "Nets by devices" in reader.text and len(charts(reader)) == 1
    empty = structs.replace(made, points=[], fits=[], complete=False)
    assert "0 of 4 points" in read("".join(whole.sweeps([("s.json", empty)]))).text


def test_several_sweeps_stand_side_by_side() -> None:
    reader = read(page_of("one.json", "two.json"))
    text = reader.text.replace("\N{NO-BREAK SPACE}", " ")
    assert "A NVIDIA H200 (cuda:0): forward" in text and "B A CPU (cpu): forward+backward" in text
    assert "alexnet ×1 51.33 154.00 1,283.33 3,850.00 51.33 154.00 1,283.33 3,850.00" in text
    assert [reference for reference in reader.references if reference] == ["#sweep-1", "#sweep-2"]


def test_the_table_has_a_row_for_each_point(tmp_path: Path) -> None:
    write_sweep(tmp_path / "s.json")
    write_sweep(tmp_path / "t.json", sweep(nets=("vgg",)))
    done = report("s.json", "t.json", "-o", "both.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "both.csv\n"), done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "both.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 3 * 2 * 8 * 2 + 2 * 8 * 2
    assert [rows[0]["sweep"], rows[-1]["sweep"]] == ["s.json", "t.json"]
    missing = [row for row in rows if row["outcome"] == "out_of_memory"]
    assert len(missing) == 4 and {row["step_ms_median"] for row in missing} == {""}
    assert {row["noisy"] for row in rows} == {"true", "false"}


def test_the_text_has_the_tables(tmp_path: Path) -> None:
    text = "".join(markdown.sweeps([(str(tmp_path / "s.json"), sweep())]))
    assert text.startswith("## Sweep: alexnet, vgg, googlenet\n") and str(tmp_path) not in text
    assert "missing" in text and "t(b) = " in text
    assert text.count("```") % 2 == 0


def test_what_cannot_be_made_of_sweeps_is_one_line(tmp_path: Path) -> None:
    write_sweep(tmp_path / "s.json")
    write_session(tmp_path / "x.json", 2.0)
    (tmp_path / "broken.json").write_text('{"schema": "gputrain-sweep", "version": 1}')
    for arguments, said in (
        (["s.json", "-o", "s.trace.json"], "a sweep has no timeline"),
        (["s.json", "x.json", "-o", "s.md"], "s.json is a sweep and x.json a recording"),
        (["broken.json", "-o", "s.md"], "broken.json"),
    ):
        done = report(*arguments, cwd=tmp_path)
        assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"s.json", "x.json", "broken.json"}
