"""Recordings read back: whole, growing, rewritten by other tools, cut off, and what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from gputrain_runner.ceilings import Ceilings
from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile, UnreadableError
from gputrain_runner.recordings.listing import about, recorded
from gputrain_runner.timeline import Change, Effect, Entry, Rate, Sample
from timelines import change, header, message, sample, summary


def write(path: Path, *, complete: bool = True) -> Recorder:
    recorder = Recorder(path, header(torch="2.13"))
    told: list[Entry] = [sample(0.25), change(0.5), sample(0.75), message(1.0)]
    for position, entry in enumerate(told):
        recorder.write(position, entry)
    if complete:
        recorder.complete(summary())
    return recorder


def test_a_whole_recording_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(path)
    recording = RecordingFile(path)
    assert len(recording) == 4
    assert [recording.kind(number) for number in range(4)] == ["sample", "change", "sample", "message"]
    assert [recording.time(number) for number in range(4)] == [0.25, 0.5, 0.75, 1.0]
    assert recording.entry(0) == sample(0.25) and recording.entry(1) == change(0.5)
    assert list(recording.entries()) == [sample(0.25), change(0.5), sample(0.75), message(1.0)]
    assert recording.summary == summary() and recording.damage is None
    assert recording.header == header(torch="2.13")


def test_a_growing_recording_is_followed_through_a_header_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    recorder = write(path, complete=False)
    recording = RecordingFile(path)
    assert len(recording) == 4 and recording.summary is None and recording.damage is None
    assert not recording.refresh()
    recorder.write(4, sample(1.25))
    assert recording.refresh()
    assert recording.entry(4) == sample(1.25)
    recorder.update_header(header(torch="2.13", driver="580.1"))
    recorder.write(5, sample(1.5))
    assert recording.refresh()
    assert recording.header.host.driver == "580.1"
    assert [recording.entry(number) for number in (0, 5)] == [sample(0.25), sample(1.5)]
    recorder.complete(summary())
    assert recording.refresh()
    assert recording.summary == summary()
    assert not recording.refresh()


def test_the_probe_is_read_from_behind_the_timeline(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    recorder = write(path, complete=False)
    probe = {"cpu": Ceilings(device="cpu", measured_at="2026-11-30T10:12:05Z")}
    recorder.update_header(structs.replace(header(torch="2.13"), probe=probe))
    recorder.complete(summary())
    assert RecordingFile(path).header.probe == probe


def test_a_file_that_jq_has_rewritten_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(path)
    for indent in (2, None):
        rewritten = tmp_path / f"rewritten-{indent}.json"
        rewritten.write_text(json.dumps(json.loads(path.read_text()), indent=indent))
        recording = RecordingFile(rewritten)
        assert list(recording.entries()) == list(RecordingFile(path).entries())
        assert recording.summary == summary() and recording.damage is None


def test_what_a_later_version_adds_is_kept_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(path)
    text = path.read_text()
    text = text.replace('{"kind":"change","t":0.5', '{"kind":"change","t":0.5,"mood":"good"')
    text = text.replace('{"kind":"message"', '{"kind":"weather"')
    path.write_text(text.replace('"version": 1', '"version": 1,\n "later": {"a": [1]}'))
    recording = RecordingFile(path)
    assert recording.entry(1) == change(0.5)
    assert recording.raw(1)["mood"] == "good"
    assert recording.kind(3) == "other" and recording.entry(3) is None
    assert recording.raw(3)["kind"] == "weather"
    assert len(list(recording.entries())) == 3


def test_a_recording_cut_off_anywhere_is_read_or_told_in_one_line(tmp_path: Path) -> None:
    path, cut = tmp_path / "x.json", tmp_path / "cut.json"
    write(path)
    whole = path.read_bytes()
    timeline = whole.index(b'"timeline": [')
    for length in range(0, len(whole) - 2, 7):
        cut.write_bytes(whole[:length])
        if length < timeline + len(b'"timeline": ['):
            with pytest.raises(UnreadableError, match=r"cut\.json") as caught:
                RecordingFile(cut)
            assert "\n" not in str(caught.value)
            continue
        recording = RecordingFile(cut)
        kept = list(recording.entries())
        assert kept == [sample(0.25), change(0.5), sample(0.75), message(1.0)][: len(kept)]
        assert recording.damage is not None and "\n" not in recording.damage


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello", "it is not JSON"),
        (b"\xff\xfe\x00", "it is not JSON"),
        (b"[1, 2]", "it is JSON of another program"),
        (b'{"schema": 5}', "it is JSON of another program"),
        (b'{"schema": "gputrain-sweep", "version": 1}', "it is a sweep"),
        (b'{"schema": "gputrain-session", "version": 2, "timeline": []}', "reads version 1"),
        (b'{"schema": "gputrain-session", "version": 1}', "no timeline"),
        (b'{"schema": "gputrain-session", "version": 1, "timeline": []}', "its header is damaged"),
    ],
)
def test_foreign_files_are_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableError) as caught:
        RecordingFile(path)
    assert said in str(caught.value) and str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="there is no such file"):
        RecordingFile(tmp_path / "none.json")
    with pytest.raises(UnreadableError, match="is a folder"):
        RecordingFile(tmp_path)


def test_a_folder_is_listed_newest_first_with_the_best_rate(tmp_path: Path) -> None:
    write(tmp_path / "old.json")
    newer = header(torch="2.13")
    newer = structs.replace(
        newer, session=structs.replace(newer.session, started_at="2026-12-01T00:00:00.000+00:00")
    )
    recorder = Recorder(tmp_path / "new.json", newer)
    fast, slow = (Rate(samples_per_s=rate, q25=rate, q75=rate, samples=9) for rate in (5000.0, 900.0))
    recorder.write(0, change(0.5))
    recorder.write(
        1, Effect(t=1.0, change=0, before=slow, after=fast, ratio=5.6, ratio_low=5.0, ratio_high=6.0)
    )
    (tmp_path / "foreign.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("nothing")
    listed = recorded(tmp_path)
    assert [Path(each.path).name for each in listed] == ["new.json", "old.json", "foreign.json"]
    assert listed[0].samples_per_s == 5000.0 and listed[0].seconds is None and listed[0].ended is None
    assert listed[1].samples_per_s == 1000.0 and listed[1].seconds == 1.5
    assert listed[1].preset == "tiny" and listed[1].device == "cpu"
    assert listed[2].problem is not None
    assert recorded(tmp_path / "nowhere") == []
    assert about(tmp_path / "gone.json").problem is not None


def test_entries_keep_their_types(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write(path)
    kinds = [type(entry) for entry in RecordingFile(path).entries()]
    assert kinds[:3] == [Sample, Change, Sample]
