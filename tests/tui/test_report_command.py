"""`gputrain-tui report` as users run it."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path

import pytest

from report_recordings import write_session
from trace_rules import checked

NO_PLOTLY = "import sys; sys.modules['plotly'] = None; from gputrain_tui.cli import main; sys.exit(main())"


def report(*arguments: str, cwd: Path, without_library: bool = False) -> subprocess.CompletedProcess[str]:
    how = ["-c", NO_PLOTLY] if without_library else ["-m", "gputrain_tui"]
    command = [sys.executable, *how, "report", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_session(tmp_path / "x.json", 8.0)
    return tmp_path


def refused(done: subprocess.CompletedProcess[str], said: str) -> None:
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.count("\n") == 1
    assert done.stderr.startswith("gputrain-tui report: ")


def test_the_page_is_named_after_the_recording_and_lies_here(folder: Path) -> None:
    pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")
    (folder / "here").mkdir()
    done = report("../x.json", cwd=folder / "here")
    assert (done.returncode, done.stdout) == (0, "x.html\n"), done.stderr
    page = folder / "here" / "x.html"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert page.stat().st_size < 6e6
    assert [path.name for path in page.parent.iterdir()] == ["x.html"], "nothing half-written is left"


def test_the_ending_says_what_is_made(folder: Path) -> None:
    for name in ("x.csv", "x.trace.json", "x.md", "X.MD"):
        done = report("x.json", "-o", name, cwd=folder)
        assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr
    rows = list(csv.DictReader(io.StringIO((folder / "x.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 32
    checked((folder / "x.trace.json").read_text(encoding="utf-8"))
    assert (folder / "x.md").read_text(encoding="utf-8").startswith("## keras-mnist-mlp on NVIDIA H200")


def test_what_is_there_is_replaced_only_when_told_to(folder: Path) -> None:
    (folder / "x.md").write_text("mine")
    refused(report("x.json", "-o", "x.md", cwd=folder), "x.md is there already; --force replaces it")
    assert (folder / "x.md").read_text() == "mine"
    done = report("x.json", "-o", "x.md", "--force", cwd=folder)
    assert done.returncode == 0 and (folder / "x.md").read_text().startswith("## ")


def test_a_recording_is_never_its_own_report(folder: Path) -> None:
    before = (folder / "x.json").read_bytes()
    (folder / "x.md").hardlink_to(folder / "x.json")
    refused(report("x.json", "-o", "x.md", "--force", cwd=folder), "choose another name")
    assert (folder / "x.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the recording is missing"),
        (["none.json"], "none.json: there is no such file"),
        (["x.json", "-o", "x.pdf"], "found the ending '.pdf', allowed: .trace.json, .html, .csv, .md"),
        (["x.json", "-o", "nowhere/x.md"], "nowhere/x.md: No such file or directory"),
        (["x.json", "-o", "folder.md"], "folder.md is a folder"),
        (["bad.json", "-o", "x.csv"], "bad.json is no recording"),
        (["x.json", "--ou", "x.md"], "unknown option"),
    ],
)
def test_a_mistake_is_one_line(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "bad.json").write_text("hello")
    (folder / "folder.md").mkdir()
    before = sorted(folder.iterdir())
    refused(report(*arguments, cwd=folder), said)
    assert sorted(folder.iterdir()) == before


def test_without_the_chart_library_it_says_how_to_install_it(folder: Path) -> None:
    refused(report("x.json", cwd=folder, without_library=True), "pip install 'gputrain-tui[report]'")
    assert not (folder / "x.html").exists()
    assert report("x.json", "-o", "x.md", cwd=folder, without_library=True).returncode == 0


def test_a_real_run_is_reported_in_every_form(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "gputrain_tui"]
    turned = ["--at", "20:batch_size=64", "--record", "x.json"]
    run = [*program, "run", "lasagne-mlp", "--device", "cpu", "--steps", "60", *turned]
    done = subprocess.run(run, capture_output=True, text=True, timeout=240, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("x.csv", "x.trace.json", "x.md", "x.html"):
        made = report("x.json", "-o", name, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
    assert "batch 1024 → 64" in (tmp_path / "x.md").read_text(encoding="utf-8")
    events = checked((tmp_path / "x.trace.json").read_text(encoding="utf-8"))
    assert any(event["name"] == "batch_size 1024 → 64" for event in events)
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "batch 1024 → 64" in page and "lasagne-mlp" in page
