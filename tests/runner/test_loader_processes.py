"""The loader's processes: they end with the worker, however that ends, and hold nothing of it."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from fake_worker import until
from gputrain_runner import settings
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import Changed, Failed, Finished, Progress, Report, ScheduledChange, Start
from training_presets import small


class Process:
    """A worker, and what it reports."""

    def __init__(self) -> None:
        self.worker = WorkerProcess()
        self.ended: queue.Queue[str | None] = queue.Queue()
        self.reports: list[Report] = []
        self._reports: queue.Queue[Report] = queue.Queue()
        self.worker.attach(self._reports.put, self.ended.put)

    def start(self, path: str, **options: Any) -> None:
        preset = small("lasagne-mlp")
        wanted = settings.initial(preset, "cpu").with_value("data_path", path)
        self.worker.send(Start(preset=preset, settings=wanted, report_every_s=0.02, **options))

    def wait_for(self, kind: type[Report]) -> None:
        while True:
            self.reports.append(self._reports.get(timeout=60))
            assert not isinstance(self.reports[-1], Failed), self.reports[-1]
            if isinstance(self.reports[-1], kind):
                return

    def loaders(self) -> list[psutil.Process]:
        """The processes of its loader, once it trains with one."""
        self.start("loader")
        self.wait_for(Progress)
        found: list[psutil.Process] = psutil.Process(self.worker.pid).children()
        assert len(found) == 2
        return found


def left_in(folder: Path) -> list[Path]:
    """What a run left there, but for the cache of PyTorch's compiler, which is PyTorch's to keep."""
    return [path for path in folder.iterdir() if not path.name.startswith("torchinductor_")]


def gone(process: psutil.Process) -> bool:
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Process]:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = Process()
    yield made
    made.worker.stop()


def test_the_loaders_processes_die_with_the_worker(process: Process) -> None:
    loaders = process.loaders()
    os.kill(process.worker.pid, signal.SIGKILL)
    until(lambda: all(gone(one) for one in loaders), 5)


def test_quitting_leaves_neither_processes_nor_files(process: Process, tmp_path: Path) -> None:
    loaders = process.loaders()
    assert list(tmp_path.iterdir())
    process.worker.stop()
    until(lambda: all(gone(one) for one in loaders), 5)
    assert not left_in(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_the_loaders_processes_hold_no_pipe_of_the_worker(process: Process) -> None:
    def pipes(pid: int) -> set[str]:
        links = set()
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # Closed since it was listed.
                links.add(str(entry.readlink()))
        return {link for link in links if link.startswith("pipe:")}

    loaders = process.loaders()
    arguments = psutil.Process(process.worker.pid).cmdline()
    fds = [arguments[arguments.index(name) + 1] for name in ("--control-fd", "--report-fd")]
    private = {str(Path(f"/proc/{process.worker.pid}/fd/{fd}").readlink()) for fd in fds}
    assert private <= pipes(process.worker.pid)
    for one in loaders:
        assert not private & pipes(one.pid)


def test_a_run_that_changes_its_path_ends_by_itself_and_leaves_nothing(
    process: Process, tmp_path: Path
) -> None:
    paths = ["prefetch", "pinned", "loader", "resident", "loader"]
    scheduled = [
        ScheduledChange(step=50 * at, setting="data_path", to=path) for at, path in enumerate(paths, 1)
    ]
    process.start("loader", steps=300, scheduled=scheduled)
    process.wait_for(Finished)
    changed = [report for report in process.reports if isinstance(report, Changed)]
    assert [(report.to, report.ok) for report in changed] == [(path, path != "pinned") for path in paths]
    assert process.ended.get(timeout=10) is None
    assert not left_in(tmp_path)
