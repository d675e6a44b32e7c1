"""Recordings: valid JSON at every moment, never overwritten, whatever ends the program or the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gputrain_runner.recorder import Recorder
from gputrain_runner.timeline import Effect, Entry, Message, Rate, Recording
from timelines import change, header, load_recording, message, sample, summary

RATE = Rate(samples_per_s=1.0, q25=0.5, q75=1.5, samples=8)


def effect(of_change: int, since: int | None = None) -> Effect:
    return Effect(
        t=9.0,
        change=of_change,
        since=since,
        before=RATE,
        after=RATE,
        ratio=1.0,
        ratio_low=0.9,
        ratio_high=1.1,
    )


def test_a_recording_holds_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    recorder = Recorder(path, header())
    first = load_recording(path)
    assert first["timeline"] == [] and first["host"]["torch"] is None and "summary" not in first
    entries: list[Entry] = [sample(0.25), change(0.5), message(0.6, 'a "quote",\na line and ünïcode')]
    for position, entry in enumerate(entries):
        recorder.write(position, entry)
    recorder.complete(summary())
    document = load_recording(path)
    assert [entry["kind"] for entry in document["timeline"]] == ["sample", "change", "message"]
    assert document["timeline"][1]["from"] == 1024
    assert msgspec.json.decode(path.read_bytes(), type=Recording).timeline == entries
    assert document["summary"]["ended"] == "finished"
    assert not recorder.writing


def test_it_is_laid_out_for_people(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json", header())
    for position in range(3):
        recorder.write(position, message(1.0, f"line {position}"))
    recorder.complete(summary())
    lines = recorder.path.read_text().splitlines()
    assert lines[1] == ' "schema": "gputrain-session",'
    assert sum('"kind":"message"' in line for line in lines) == 3
    assert max(map(len, lines)) < 100


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        recorder = Recorder(tmp_path / "x.json", header())
    finally:
        os.umask(before)
    assert stat.S_IMODE(recorder.path.stat().st_mode) == 0o600


def test_it_is_valid_after_every_single_system_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.json"
    checked = []

    def checking(call: Callable[..., Any]) -> Callable[..., Any]:
        def checked_call(*arguments: Any) -> Any:
            result = call(*arguments)
            checked.append(load_recording(path))
            return result

        return checked_call

    for name in ("pwrite", "ftruncate", "write"):
        monkeypatch.setattr(os, name, checking(getattr(os, name)))
    recorder = Recorder(path, header(torch="a rather long version, longer than the next one"))
    for position in range(4):
        recorder.write(position, sample(position / 4))
        recorder.update_header(header(torch="2.99.0" + "+x" * position))
    recorder.update_header(header())
    recorder.complete(summary())
    assert len(checked) >= 11
    assert len(checked[-1]["timeline"]) == 4


@pytest.mark.parametrize("versions", [("2.99.0+cu130", "1"), ("1", "2.99.0+cu130")])
def test_the_header_can_be_completed_later(tmp_path: Path, versions: tuple[str, str]) -> None:
    recorder = Recorder(tmp_path / "x.json", header())
    recorder.write(0, message(0.1))
    for version in versions:
        recorder.update_header(header(torch=version))
        recorder.write(1, message(0.2))
    document = load_recording(recorder.path)
    assert document["host"]["torch"] == versions[-1]
    assert document["devices"][0]["device"] == "cpu"
    assert [entry["t"] for entry in document["timeline"]] == [0.1, 0.2, 0.2]
    assert recorder.path.read_text().endswith('\n ],\n "probe": null\n}\n')


def test_effects_name_their_changes_by_the_index_in_the_file(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json", header())
    recorder.write(100, sample(1.0))
    recorder.write(207, change(2.0))
    recorder.write(208, change(2.1))
    recorder.write(300, sample(3.0))
    recorder.write(301, effect(of_change=208, since=207))
    recorder.write(305, effect(of_change=207))
    recorder.write(306, Message(t=4.0, level="info", text="too short to tell", change=208))
    timeline = load_recording(recorder.path)["timeline"]
    assert (timeline[4]["change"], timeline[4]["since"]) == (2, 1)
    assert (timeline[5]["change"], timeline[5]["since"]) == (1, None)
    assert timeline[6]["change"] == 2


def test_numbers_that_json_has_not_are_null(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.json", header())
    recorder.write(0, sample(1.0, samples_per_s=float("inf"), loss=float("nan")))
    entry = load_recording(recorder.path)["timeline"][0]
    assert entry["loss"] is None and entry["samples_per_s"] is None
