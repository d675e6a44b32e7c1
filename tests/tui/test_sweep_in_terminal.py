"""The sweep screen of the real app in a terminal, its workers answering at once."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

import fake_sweep_worker
from fake_sweep_worker import LOG, TAKES_S, asked
from fake_worker import until
from gputrain_runner.sweep import load
from terminal import Terminal

PROGRAM = [sys.executable, str(Path(fake_sweep_worker.__file__)), "gputrain-tui"]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "XDG_STATE_HOME": str(tmp_path / "state"),
        LOG: str(tmp_path / "asked.log"),
        TAKES_S: "0.5",
    }


def sweep_file(tmp_path: Path) -> Path:
    """The one sweep there is, nothing beside it."""
    (path,) = (tmp_path / "state" / "gputrain-tui" / "sweeps").iterdir()
    return path


def begin(terminal: Terminal) -> None:
    terminal.wait_for("type to filter")
    terminal.send("\x13")
    terminal.wait_for("100 timed steps of each")
    terminal.send("s")
    terminal.wait_for("measuring")


def test_a_sweep_runs_to_its_end_and_is_among_the_past_ones(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    with Terminal(PROGRAM, columns=100, rows=30, environment=environment) as terminal:
        begin(terminal)
        shown = terminal.wait_for(r"complete  2 points")
        assert "cuda:0 a GPU" in shown and "fwd+bwd" in shown
        terminal.send("\x1b")
        terminal.wait_for("what to measure")
        terminal.send("o")
        terminal.wait_for(r"lasagne-mlp on cuda:0 +2 points")
        terminal.send("\x11")
        assert terminal.wait_end() == 0
    assert load(sweep_file(tmp_path)).complete
    assert len(asked(tmp_path / "asked.log")) == 4


def test_leaving_the_program_ends_the_sweep_and_its_worker(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    log = tmp_path / "asked.log"
    with Terminal(PROGRAM, columns=80, rows=24, environment={**environment, TAKES_S: "30"}) as terminal:
        begin(terminal)
        until(lambda: len(asked(log)) == 1)
        began = time.monotonic()
        terminal.send("\x11")
        assert terminal.wait_end() == 0
        print(f"left after {time.monotonic() - began:.2f} s")
    (worker,) = (pid for pid, _, _ in asked(log))
    until(lambda: not Path(f"/proc/{worker}").exists())
    found = load(sweep_file(tmp_path))
    assert not found.complete and found.planned == 2 and found.points == []


def test_stopped_by_key_it_goes_on_later(tmp_path: Path, environment: dict[str, str]) -> None:
    log = tmp_path / "asked.log"
    with Terminal(PROGRAM, columns=100, rows=30, environment=environment) as terminal:
        begin(terminal)
        terminal.wait_for(r"1/4  round 1 of 2")
        terminal.send("s")
        terminal.wait_for(r"stopped  1 of 2 points")
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid, _, _ in asked(log)))
        terminal.send("s")
        terminal.wait_for(r"complete  2 points")
        terminal.send("q")
        assert terminal.wait_end() == 0
    assert [point.rounds for point in load(sweep_file(tmp_path)).points] == [2, 2]
