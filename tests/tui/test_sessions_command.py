"""`gputrain-tui sessions`: the list of recordings, as wide as the terminal and whole where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gputrain_tui.cli import main
from past_recordings import EPYC, H200, record
from terminal import PROGRAM, Terminal


def shown(folder: Path, columns: int = 80) -> list[str]:
    """What stands below the folder, which takes as many rows as it is long."""
    with Terminal([PROGRAM, "sessions"], columns=columns, rows=24) as terminal:
        assert terminal.wait_end() == 0
        lines = [line.rstrip() for line in terminal.text.splitlines() if line.strip()]
    above = -(-len(str(folder)) // columns)
    assert "".join(lines[:above]) == str(folder)
    return lines[above:]


def test_where_no_terminal_is_each_is_one_line_with_the_device_s_whole_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(folder / "a-name-that-somebody-has-given.json")
    record(folder / "b.json", "2026-12-01T10:00:00.000+00:00", ends=False, untouched_s=0.0)
    record(folder / "c.json", "2026-12-02T10:00:00.000+00:00", ends=False)
    (folder / "broken.json").write_text("{}")
    assert main(["sessions"]) == 0
    where, heads, *lines = capsys.readouterr().out.splitlines()
    assert where == str(folder) and heads.startswith("started (UTC)")
    killed, growing, over, broken = lines
    assert "no end" in killed and killed.endswith("  c.json")
    assert "being written" in growing and "no end" not in growing
    assert str(EPYC.name) in over and "2026-11-30 10:12:05" in over
    assert broken == "broken.json: no recording"


@pytest.mark.terminal
def test_on_80_columns_default_names_tell_day_and_preset(folder: Path) -> None:
    names = ["2026-11-30T10-12-05-lasagne-mlp.json", "2026-11-30T11-12-05-keras-mnist-mlp.json"]
    record(folder / names[0])
    record(
        *(folder / names[1], "2026-11-30T11:12:05.000+00:00"),
        device=H200,
        preset="keras-mnist-mlp",
        ends=False,
        untouched_s=-60.0,
    )
    lines = shown(folder)
    assert max(map(len, lines)) <= 80
    assert len(lines) == 3 and lines[0].split() == ["file", "device", "for", "samples/s"]
    assert lines[1].split() == [names[1], "H200", "being", "written", "n/a"]
    assert lines[2].split() == [names[0], "cpu", "EPYC", "9V74", "00:00:01", "1,000"]


@pytest.mark.terminal
def test_on_80_columns_other_names_stand_above_what_is_known(folder: Path) -> None:
    record(folder / "with-the-new-data-loader-and-a-long-name.json")
    (folder / "broken.json").write_text("{}")
    lines = shown(folder)
    assert max(map(len, lines)) <= 80
    at = lines.index("with-the-new-data-loader-and-a-long-name.json")
    known = ["2026-11-30", "10:12", "lasagne-mlp", "cpu", "EPYC", "9V74", "00:00:01", "1,000"]
    assert lines[at + 1].split() == known
    assert lines[at + 2] == "broken.json: no recording"


@pytest.mark.terminal
def test_on_a_wide_terminal_everything_is_on_one_line(folder: Path) -> None:
    record(folder / "with-the-new-data-loader.json")
    _, line = shown(folder, 140)
    assert str(EPYC.name) in line and line.endswith("with-the-new-data-loader.json")


def test_json_tells_what_is_being_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(folder / "a.json", ends=False, untouched_s=0.0)
    assert main(["sessions", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert told["being_written"] is True and told["torch_device"] == "cpu" and told["seconds"] is None


def test_an_empty_folder_says_what_makes_recordings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions"]) == 0
    out, err = capsys.readouterr()
    assert out == "" and f"no recordings in {folder}" in err
