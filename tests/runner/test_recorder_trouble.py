"""What can go wrong with a recording: a killed program, a full disk, a place that cannot be."""

from __future__ import annotations

import os
import random
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fake_worker import until
from gputrain_runner.paths import default_path
from gputrain_runner.recorder import Recorder, RecordingError, RecordingExistsError, check_path
from timelines import header, load_recording, message

WRITER = """
    import sys, time
    from pathlib import Path
    from gputrain_runner.recorder import Recorder
    from timelines import header, message, sample
    recorder = Recorder(Path(sys.argv[1]), header())
    print("writing", flush=True)
    for position in range(1_000_000):
        recorder.write(position, message(position / 4))
        if position % 20 == 0:
            recorder.write(position, sample(position / 4))
        time.sleep(0.002)
"""


def script(text: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(text), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def wait_for_growth(path: Path, size_bytes: int) -> None:
    wanted = path.stat().st_size + size_bytes
    until(lambda: path.stat().st_size >= wanted)


def test_it_is_readable_whenever_the_program_is_killed(tmp_path: Path) -> None:
    moments = random.Random(2026)
    written = 0
    for attempt in range(10):
        path = tmp_path / f"{attempt}.json"
        with script(WRITER, str(path)) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            wait_for_growth(path, moments.randrange(10_000))
            writer.send_signal(signal.SIGKILL)
        written += len(load_recording(path)["timeline"])
    assert written > 100


FILLER = """
    import resource, sys
    from pathlib import Path
    from gputrain_runner.recorder import Recorder, RecordingError
    from timelines import header, sample, summary
    limit = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    recorder = Recorder(Path(sys.argv[1]), header())
    errors = []
    for position in range(100):
        try:
            recorder.write(position, sample(position / 4))
        except RecordingError as error:
            errors.append(str(error))
    recorder.update_header(header(torch="2.99.0"))
    recorder.complete(summary())
    print(recorder.writing, len(errors), errors[0])
"""


@pytest.mark.parametrize("limit", [4096, 6000, 6001, 9999])
def test_a_full_disk_leaves_what_was_written_before(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "x.json"
    with script(FILLER, str(path), str(limit)) as filler:
        assert filler.stdout is not None
        said = filler.stdout.read()
    assert filler.returncode == 0
    assert said.startswith(f"False 1 {path}: File too large: the recording ends here")
    document = load_recording(path)
    assert len(document["timeline"]) >= 1
    assert [entry["t"] for entry in document["timeline"]] == [n / 4 for n in range(len(document["timeline"]))]
    assert limit - 2000 < path.stat().st_size <= limit


def test_a_disk_full_while_the_header_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(tmp_path / "x.json", header())
    recorder.write(0, message(0.1))
    before = load_recording(recorder.path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (recorder.path.stat().st_size, hard))
    try:
        with pytest.raises(RecordingError, match="File too large"):
            recorder.update_header(header(torch="2.99.0", cuda="13.0"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert load_recording(recorder.path) == before


def test_no_file_is_left_where_not_even_the_header_fits(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(RecordingError, match="File too large"):
            Recorder(tmp_path / "x.json", header())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_ever_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("precious")
    for attempt in (check_path, lambda path: Recorder(path, header())):
        with pytest.raises(RecordingExistsError, match=r"x\.json exists already; recordings are never overw"):
            attempt(path)
    assert path.read_text() == "precious"
    dangling = tmp_path / "link.json"
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(RecordingExistsError):
        Recorder(dangling, header())
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_appears_in_the_last_moment_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.json").write_text("precious")
    monkeypatch.setattr("gputrain_runner.recorder.check_path", lambda path: None)
    with pytest.raises(RecordingExistsError):
        Recorder(tmp_path / "x.json", header())
    assert (tmp_path / "x.json").read_text() == "precious"


def test_places_that_cannot_be_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, words in [
        (tmp_path, "is a folder: name a file in it"),
        (tmp_path / "missing" / "x.json", "there is no folder"),
        (tmp_path / "file" / "x.json", "is not a folder"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        with pytest.raises(RecordingError, match=words) as raised:
            Recorder(path, header())
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize("mode", [0o500, 0o000])
def test_a_folder_that_may_not_be_written_to(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=mode)
    text = """
        import os, sys
        from pathlib import Path
        from gputrain_runner.recorder import RecordingError, check_path
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            check_path(Path(sys.argv[1]))
        except RecordingError as error:
            print(error)
    """
    with script(text, str(folder / "x.json")) as checking:
        assert checking.stdout is not None
        assert "no permission to write in" in checking.stdout.read()


def test_the_default_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    started_at = datetime(2026, 11, 30, 10, 12, 5, tzinfo=UTC)
    folder = tmp_path / "state" / "gputrain-tui" / "sessions"
    expected = [f"2026-11-30T10-12-05-lasagne-mlp{suffix}.json" for suffix in ("", "-2", "-3")]
    for name in expected:
        path = default_path(started_at, "lasagne-mlp")
        assert path == folder / name
        Recorder(path, header())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_default_place_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(RecordingError, match="set XDG_STATE_HOME to a folder that can be written to"):
        default_path(datetime.now(UTC), "tiny")


def test_without_the_variable_it_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "a/relative/path")
    path = default_path(datetime.now(UTC), "tiny")
    assert path.is_relative_to(tmp_path) and path.parent.name == "sessions"
