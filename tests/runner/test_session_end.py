"""The end of a session, however it comes: recording complete, worker gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fake_session import Clock, FakeTelemetry, Start, recorded
from fake_worker import arguments, fake_worker, tiny_preset, until
from gputrain_runner.feed import Refused
from gputrain_runner.options import SessionOptions
from gputrain_runner.session import Session


@pytest.mark.parametrize("ended", ["finished", "interrupted"])
def test_stopping_completes_the_recording_with_the_last_numbers(
    start: Start, tmp_path: Path, ended: Any
) -> None:
    path = tmp_path / "x.json"
    session = start(record=path)
    summary = session.stop(ended)
    assert session.stop("finished") == summary
    assert (summary.ended, summary.steps, summary.loss_last) == (ended, 150, 0.125)
    assert recorded(path)["summary"]["ended"] == ended
    assert session.wait(0) and session.state == "finished"
    for refused in (lambda: session.change("batch_size", 64), session.restart, session.start_recording):
        with pytest.raises(Refused, match="the training has ended"):
            refused()


def test_stopping_does_not_wait_for_a_worker_that_hangs(
    start: Start, telemetry: FakeTelemetry, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    session = start("--deaf", record=path)
    pid = telemetry.watched[0]
    began = time.monotonic()
    summary = session.stop("interrupted")
    assert time.monotonic() - began < 5.0  # Bounded at all; how tightly is measured with the benchmarks.
    assert summary.steps == 150
    assert summary.loss_last == pytest.approx(10 / 150)
    assert recorded(path)["summary"]["ended"] == "interrupted"
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_stopping_while_it_is_starting(clock: Clock, tmp_path: Path) -> None:
    options = SessionOptions(preset=tiny_preset(), record=tmp_path / "x.json")
    session = Session(options, spawn=fake_worker(), clock=clock)
    summary = session.stop("interrupted")
    assert (summary.steps, summary.samples_per_s, summary.loss_first) == (0, None, None)
    assert recorded(tmp_path / "x.json")["summary"]["validation"] is None


def test_many_threads_may_stop_at_once(start: Start, tmp_path: Path) -> None:
    session = start(record=tmp_path / "x.json")
    summaries: list[Any] = []
    threads = [threading.Thread(target=lambda: summaries.append(session.stop())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(summaries) == 8 and len(set(map(id, summaries))) == 1
    assert recorded(tmp_path / "x.json")["summary"]["steps"] == 150


PARENT = """
    import sys
    from pathlib import Path
    from fake_worker import fake_worker, tiny_preset, until
    from gputrain_runner.options import SessionOptions
    from gputrain_runner.session import Session
    spawn = fake_worker()
    worker = spawn()
    session = Session(SessionOptions(preset=tiny_preset(), record=Path(sys.argv[1])), worker)
    session.start()
    until(lambda: session.state == "running")
    print(worker.pid, flush=True)
    while True:
        session.change("batch_size", 2048 if session.settings.batch_size == 1024 else 1024)
        batch_size = session.settings.batch_size
        until(lambda: session.settings.batch_size != batch_size)
"""


def test_a_killed_program_leaves_a_readable_recording_and_no_worker(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(PARENT), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        worker_pid = int(parent.stdout.readline())
        until(lambda: path.stat().st_size > 50_000)
        parent.send_signal(signal.SIGKILL)
    document = recorded(path)
    assert len(document["timeline"]) > 20 and "summary" not in document
    until(lambda: not worker_lives(worker_pid))


def worker_lives(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return arguments()[2].encode() in command
