"""Samples as a table for a data frame."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.report.samples_csv import FIRST, write_samples
from gputrain_runner.timeline import Entry, Sample
from report_recordings import write_session
from timelines import change, header, sample


def table(*paths: Path) -> tuple[list[str], list[dict[str, str]]]:
    file = io.StringIO(newline="")
    count = write_samples(paths, file)
    reader = csv.DictReader(io.StringIO(file.getvalue(), newline=""))
    rows = list(reader)
    assert len(rows) == count
    return list(reader.fieldnames or []), rows


def test_there_is_a_row_for_each_sample_and_a_column_for_each_figure(tmp_path: Path) -> None:
    path = write_session(tmp_path / "x.json", 20.0)
    columns, rows = table(path)
    samples = [entry for entry in RecordingFile(path).entries() if isinstance(entry, Sample)]
    assert tuple(columns[: len(FIRST)]) == FIRST and len(set(columns)) == len(columns)
    assert len(rows) == len(samples)
    for row, told in zip(rows, samples, strict=True):
        assert float(row["t_s"]) == told.t and row["recording"] == "x.json"
        assert row["steady"] == ("true" if told.steady else "false")
        assert told.samples_per_s is not None and told.phases is not None
        assert float(row["samples_per_s"]) == pytest.approx(told.samples_per_s)
        assert float(row["phases.forward.host_ms"]) == pytest.approx(told.phases["forward"].host_ms or 0)
        assert int(row["settings.batch_size"]) == told.settings.batch_size
        assert float(row["gpus.0.utilisation"]) == pytest.approx(told.gpus[0].utilisation or 0)
        assert int(row["gpus.1.memory_used_bytes"]) == told.gpus[1].memory_used_bytes
    profiled = [row["profile.work.matmul.ms"] for row in rows if row["profile.work.matmul.ms"]]
    assert len(profiled) == sum(told.profile is not None for told in samples)


def test_what_is_not_known_is_an_empty_cell_and_zero_is_zero(tmp_path: Path) -> None:
    path = write_session(tmp_path / "x.json", 5.0)
    columns, rows = table(path)
    assert {row["phases.data.device_ms"] for row in rows} == {""}
    assert {float(row["gpus.1.utilisation"]) for row in rows} == {0.0}
    assert rows[0]["gpus.0.throttle"] == "" and rows[-1]["gpus.0.throttle"] == "sw_power_cap"
    assert "memory" not in columns and "profile" not in columns, "their fields are columns"


def test_what_a_later_version_adds_is_a_column(tmp_path: Path) -> None:
    path = write_session(tmp_path / "x.json", 3.0)
    document = json.loads(path.read_text())
    for entry in document["timeline"]:
        if entry["kind"] == "sample":
            entry["mood"] = "good"
            entry["host"]["fans"] = {"front_rpm": 1200}
            entry["host"]["places"] = ["a", "b"]
            entry["host"]["odd"] = [1, {"x": 2}]
    path.write_text(json.dumps(document))
    _, rows = table(path)
    assert rows[0]["mood"] == "good" and rows[0]["host.fans.front_rpm"] == "1200"
    assert rows[0]["host.places"] == "a;b" and json.loads(rows[0]["host.odd"]) == [1, {"x": 2}]


def test_several_recordings_are_one_table(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "cpu.json", header(torch="2.13"))
    told: list[Entry] = [sample(0.25), change(0.5), sample(0.75)]
    for position, entry in enumerate(told):
        recorder.write(position, entry)
    columns, rows = table(tmp_path / "cpu.json", write_session(tmp_path / "gpu.json", 2.0))
    assert [row["recording"] for row in rows] == ["cpu.json"] * 2 + ["gpu.json"] * 8
    assert rows[0]["gpus.0.utilisation"] == "" and rows[-1]["gpus.0.utilisation"] != ""
    places = [columns.index(column) for column in columns if column.startswith("gpus.")]
    assert places == list(range(places[0], places[0] + len(places))), "GPUs stand together"


def test_a_file_that_is_no_recording_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(UnreadableError, match=r"x\.json"):
        write_samples([tmp_path / "x.json"], io.StringIO())
