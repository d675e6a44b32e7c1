"""`gputrain-tui compare`: as wide as the terminal, and whole where there is none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.compare import Comparison, Difference, compare, side
from gputrain_runner.sweep.compare import SweepComparison
from gputrain_runner.sweep.compare import compare as compare_sweeps
from gputrain_tui.cli import main
from gputrain_tui.commands.compare import as_text
from gputrain_tui.commands.compare_sweeps import as_text as sweeps_as_text
from past_recordings import STEADY, record
from sweep_files import point, sweep
from terminal import PROGRAM, Terminal

LONG = Difference(
    name="cpu",
    a="Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz",
    b="AMD Ryzen Threadripper PRO 3995WX 64-Cores with a very long name of its own",
)
WARNING = "settings changed on the way; the last that gave a steady rate are compared"


def noisy(seed: int, median: float = 1000.0) -> list[float]:
    chance = random.Random(seed)
    return [median * 2 ** chance.gauss(0, 0.6) for _ in range(8)]


def found(tmp_path: Path, *, settings: bool = True) -> Comparison:
    a = record(tmp_path / "a.json", rates=noisy(1))
    b = record(tmp_path / "b.json", rates=noisy(2), batch_size=2048 if settings else 1024)
    return compared(a, b)


def compared(a: Path, b: Path) -> Comparison:
    return compare(side(RecordingFile(a)), side(RecordingFile(b)))


def found_sweeps() -> SweepComparison:
    a = sweep(point(8, 10.0), point(100_000, 12345.0), presets={})
    b = sweep(point(8, 10.2, 3), point(100_000, 2345.0, 2), point(64, 1.0), presets={})
    return compare_sweeps(("a.json", a), ("b.json", b), False)


@pytest.mark.parametrize("width", [78, 80])
def test_a_comparison_fits_80_columns_and_loses_no_figure(tmp_path: Path, width: int) -> None:
    whole = found(tmp_path)
    text = as_text(whole, width)
    assert max(map(len, text.splitlines())) <= width
    figures = [line for line in as_text(whole).splitlines() if "×" in line]
    assert len(figures) == len(whole.rows) > 5
    for line in figures:
        assert line.replace("within the noise", "noise").split() in map(str.split, text.splitlines())


def test_without_a_terminal_lines_stay_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found(tmp_path)
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    out = capsys.readouterr().out
    assert f"A  {tmp_path / 'a.json'}\n" in out
    assert "within the noise" in out
    assert max(map(len, out.splitlines())) > 80


@pytest.mark.terminal
def test_in_a_terminal_of_80_columns_nothing_is_wrapped_by_it(tmp_path: Path) -> None:
    folder = tmp_path / ("a-long-folder-" * 3) / "sessions"
    folder.mkdir(parents=True)
    record(folder / "a.json", rates=noisy(1))
    record(folder / "b.json", rates=noisy(2))
    arguments = [PROGRAM, "compare", str(folder / "a.json"), str(folder / "b.json"), "--fail-below", "0.01"]
    with Terminal(arguments, columns=80, rows=60) as terminal:
        assert terminal.wait_end() == 0
        lines = [line.rstrip() for line in terminal.text.splitlines() if line.strip()]
    assert lines[0].startswith("A  ") and lines[0].endswith("/a.json")
    assert lines[1].startswith("B  ") and lines[1].endswith("/b.json")
    rows = [line for line in lines if "×" in line and not line.startswith("passed")]
    assert len(rows) > 5 and all(line.endswith("noise") for line in rows)


def test_notes_and_long_values_are_wrapped_between_words(tmp_path: Path) -> None:
    whole = found(tmp_path)
    told = Comparison(
        a=whole.a,
        b=whole.b,
        settings=[],
        machine=[LONG],
        rows=whole.rows,
        warnings=[f"the first of the two: {WARNING}"],
    )
    lines = as_text(told, 80).splitlines()
    assert max(map(len, lines)) <= 80
    note = next(at for at, line in enumerate(lines) if line.startswith("note: "))
    assert lines[note + 1].startswith("      ")
    words = " ".join(" ".join(lines).split())
    assert WARNING in words and f"{LONG.a} → {LONG.b}" in words


@pytest.mark.parametrize("width", [40, 60])
def test_on_fewer_columns_each_quantity_has_its_name_above_its_figures(tmp_path: Path, width: int) -> None:
    lines = as_text(found(tmp_path, settings=False), width).splitlines()
    at = lines.index("  samples/s")
    assert "×" in lines[at + 1]
    assert width < 60 or max(len(line) for line in lines if "json" not in line) <= width


def test_two_sweeps_fit_80_columns_too() -> None:
    whole = found_sweeps()
    text = sweeps_as_text(whole, 80)
    assert max(map(len, text.splitlines())) <= 80
    for row in sweeps_as_text(whole).splitlines():
        for figure in (word for word in row.split() if word.startswith("×")):
            assert figure in text
    assert "in B alone: " in text


def test_a_large_ratio_is_told_in_three_digits(tmp_path: Path) -> None:
    a = record(tmp_path / "a.json")
    b = record(tmp_path / "b.json", rates=[123.456 * rate for rate in STEADY])
    text = as_text(compared(a, b))
    assert "×123 " in text and "more" in text
