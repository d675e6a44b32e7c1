"""Measuring the machine's ceilings without a session."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gputrain_runner.ceilings import in_words
from gputrain_runner.live_probe import NOISY
from gputrain_runner.paths import probes_folder
from gputrain_runner.probing import ProbeError, measure
from gputrain_runner.process import WorkerProcess


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_it_measures_tells_and_keeps() -> None:
    told: list[str] = []
    found = measure(["cpu", "cuda:9"], 0.05, told.append)
    assert list(found) == ["cpu"]
    cpu = found["cpu"]
    noisy = [f"cpu: {NOISY}"] if cpu.noisy else []
    assert told[:-2] == ["probing cpu: about 0 s", f"cpu: {in_words(cpu)}", *noisy]
    assert told[-2] == "probing cuda:9: about 0 s"
    assert told[-1].startswith("cuda:9: there is no device cuda:9 here; there are")
    assert len(list(probes_folder().iterdir())) == 1


def test_where_nothing_can_be_measured_it_says_why() -> None:
    with pytest.raises(ProbeError, match=r"^cuda:9: there is no device cuda:9 here; there are .*cpu$"):
        measure(["cuda:9"], 0.05)
    assert not probes_folder().exists()


def test_a_worker_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; print('no torch in this house'); sys.exit(1)"
    broken = WorkerProcess([sys.executable, "-c", code])
    monkeypatch.setattr("gputrain_runner.asking.WorkerProcess", lambda: broken)
    with pytest.raises(ProbeError, match=r"^the worker exited with code 1; it said last: no torch in this"):
        measure(["cpu"], 0.05)
