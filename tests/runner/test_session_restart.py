"""A session whose worker dies or is replaced: it says so, keeps its settings and counts on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from fake_session import (
    Clock,
    FakeTelemetry,
    Start,
    change_and_wait,
    changes,
    effects,
    entries,
    messages,
    recorded,
    steady,
    wait_for_changes,
)
from fake_worker import BEGAN, CRASHED, FAILED, KILLED, SILENT_BELOW, fake_worker, tiny_preset, until
from gputrain_runner.feed import Refused
from gputrain_runner.options import SessionOptions
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import Command, Report, Said
from gputrain_runner.session import Session
from gputrain_runner.timeline import Sample


@pytest.mark.parametrize(
    ("batch_size", "reason"),
    [
        (KILLED, "worker killed by SIGKILL (often the system's out-of-memory killer)"),
        (CRASHED, "worker ended by SIGSEGV (crashed in native code)"),
        (FAILED, "the loss of a device"),
    ],
)
def test_a_worker_that_dies_is_told_of_and_can_be_started_anew(
    start: Start, telemetry: FakeTelemetry, batch_size: int, reason: str
) -> None:
    session = start()
    change_and_wait(session, "batch_size", 2048)
    until(lambda: len(steady(session)) >= 24)
    session.change("batch_size", batch_size)
    assert session.wait(20)
    assert (session.state, session.reason, session.usage_error) == ("died", reason, False)
    assert messages(session)[-1] == reason
    assert session.log_tail[-1] == f"last words before {batch_size}"
    actions: list[Callable[[], object]] = [session.pause, session.resume, session.undo]
    actions.append(partial(session.change, "batch_size", 64))
    for refused in actions:
        with pytest.raises(Refused, match="the worker has ended: press r to start it anew"):
            refused()
    before = len(steady(session))
    session.restart()
    until(lambda: len(steady(session)) >= before + 12)
    assert (session.state, session.reason) == ("running", None)
    assert session.settings.batch_size == 2048
    assert "worker restarted: the model starts over" in messages(session)
    steps = [entry.step for entry in entries(session) if isinstance(entry, Sample)]
    assert steps == sorted(steps) and steps[-1] == 450
    assert len(set(telemetry.watched)) == 2


class Puppet:
    """In place of a worker's process: says what the test says."""

    hello = None
    pid = 1

    def attach(self, on_report: Callable[[Report], None], on_exit: Callable[[str | None], None]) -> None:
        self.say, self.exit = on_report, on_exit

    def send(self, command: Command) -> None: ...

    def stop(self, grace_s: float) -> None: ...

    def log_tail(self) -> list[str]:
        return []


def test_what_a_replaced_or_ended_worker_still_says_counts_for_nothing(clock: Clock) -> None:
    first, second = Puppet(), Puppet()
    session = Session(
        SessionOptions(preset=tiny_preset()),
        cast(WorkerProcess, first),
        spawn=lambda: cast(WorkerProcess, second),
        clock=clock,
    )
    session.start()
    first.say(Said(at=BEGAN, level="info", text="heard"))
    session.restart()
    first.say(Said(at=BEGAN, level="info", text="too late"))
    first.exit("killed by SIGKILL")
    second.say(Said(at=BEGAN - 9.0, level="info", text="heard too"))
    session.stop()
    second.say(Said(at=BEGAN, level="info", text="too late"))
    second.exit("killed by SIGKILL")
    assert session.state == "finished"
    assert messages(session) == ["heard", "worker restarted: the model starts over", "heard too"]
    assert all(entry.t == 0.0 for entry in entries(session))


def test_a_running_worker_can_be_started_anew(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    session = start(record=path)
    session.pause()
    until(lambda: session.state == "paused")
    session.restart()
    until(lambda: len(steady(session)) >= 24)
    assert session.state == "running"
    summary = session.stop()
    assert summary.ended == "finished" and summary.steps == 300
    assert summary.samples == 300 * 1024
    assert recorded(path)["session"]["settings"]["batch_size"] == 1024


def test_effects_do_not_reach_across_a_restart(start: Start) -> None:
    session = start()
    change_and_wait(session, "batch_size", SILENT_BELOW - 1)
    session.restart()
    until(lambda: len(steady(session)) >= 24)
    assert effects(session) == []
    assert any(
        text.startswith("too short to tell what batch size 1024 → 63 did") for text in messages(session)
    )


def test_a_change_while_a_new_worker_starts_is_one_like_others(clock: Clock) -> None:
    workers: list[WorkerProcess] = []

    def spawn() -> WorkerProcess:
        workers.append(fake_worker()())
        if len(workers) == 2:
            os.kill(workers[-1].pid, signal.SIGSTOP)  # Before it has said hello.
        return workers[-1]

    session = Session(SessionOptions(preset=tiny_preset()), spawn=spawn, clock=clock)
    session.start()
    try:
        until(lambda: len(steady(session)) == 12)
        session.restart()
        session.change("batch_size", 2048)
        assert session.state == "starting"
        [change] = changes(session)
        assert (change.from_, change.to, change.ok, change.step) == (1024, 2048, True, 150)
        os.kill(workers[-1].pid, signal.SIGCONT)
        until(lambda: len(steady(session)) == 24)
        assert steady(session)[-1].settings.batch_size == 2048
        assert session.header.session.settings.batch_size == 1024
        session.undo()
        wait_for_changes(session, 2)
        assert session.settings.batch_size == 1024
    finally:
        session.stop()


def test_a_death_goes_into_the_recording(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    session = start(record=path)
    session.change("batch_size", KILLED)
    assert session.wait(20)
    assert "summary" not in recorded(path) and session.recording == path
    summary = session.stop()
    assert summary.ended == "failed" and summary.error == session.reason
    assert recorded(path)["summary"]["error"] == summary.error
