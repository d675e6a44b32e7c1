"""The worker as a process: hearing all of it, in order; ending it, whatever state it is in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gputrain_runner
from fake_worker import BROKEN, CRASHED, EXITED, KILLED, arguments, fake_worker, tiny_preset, until
from gputrain_runner import settings
from gputrain_runner.log import LogFile
from gputrain_runner.process import WorkerError, WorkerProcess, exit_in_words, worker_environment
from gputrain_runner.protocol import (
    Changed,
    ChangeSetting,
    Describe,
    Finished,
    Hello,
    Progress,
    Report,
    Said,
    Start,
    Started,
    Stop,
)

Heard = list[Report | tuple[str | None]]


@pytest.fixture
def spawn() -> Iterator[Callable[..., WorkerProcess]]:
    workers: list[WorkerProcess] = []

    def start(*options: str) -> WorkerProcess:
        workers.append(fake_worker(*options)())
        return workers[-1]

    yield start
    for worker in workers:
        worker.stop(grace_s=0)


def listen(worker: WorkerProcess) -> Heard:
    heard: Heard = []
    worker.attach(heard.append, lambda description: heard.append((description,)))
    return heard


def start_command() -> Start:
    preset = tiny_preset()
    return Start(preset=preset, settings=settings.initial(preset, "cpu"))


def batch_size(to: int) -> ChangeSetting:
    return ChangeSetting(setting="batch_size", to=to, asked_at=1.0)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, other than one that has ended and waits to be looked after."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def group_members(group: int) -> list[int]:
    members = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group:
                members.append(int(folder.name))
    return members


def test_what_came_before_attach_is_heard_first_and_in_order(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    until(lambda: worker.hello is not None)
    worker.send(start_command())
    until(lambda: "building the model" in worker.log_tail(lines=99))
    heard = listen(worker)
    worker.send(batch_size(2048))
    worker.send(Stop())
    until(lambda: (None,) in heard)
    kinds = [type(item) for item in heard]
    assert kinds[:3] == [Hello, Started, Said]
    assert kinds[-2:] == [Finished, tuple]
    steps = [report.step for report in heard if isinstance(report, Progress)]
    assert steps == sorted(steps) and len(steps) == 30
    assert heard[0] == worker.hello


def test_nothing_is_lost_when_attaching_amid_a_flood(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    worker.send(start_command())
    for number in range(40):
        worker.send(batch_size(1000 + number))
    worker.send(Stop())
    until(lambda: "building the model" in worker.log_tail(lines=99))
    heard = listen(worker)
    until(lambda: (None,) in heard)
    assert [report.to for report in heard if isinstance(report, Changed)] == list(range(1000, 1040))
    assert sum(isinstance(report, Progress) for report in heard) == 41 * 15


def test_a_late_listener_still_hears_how_it_ended(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    worker.send(start_command())
    worker.send(batch_size(EXITED))
    until(lambda: not worker.running)
    heard = listen(worker)
    until(lambda: bool(heard) and heard[-1] == ("exited with code 3",))


def test_a_second_listener_hears_how_it_ended_too(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    first = listen(worker)
    worker.send(start_command())
    worker.send(batch_size(EXITED))
    until(lambda: bool(first) and isinstance(first[-1], tuple))
    assert listen(worker) == first[-1:]


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (KILLED, "killed by SIGKILL (often the system's out-of-memory killer)"),
        (CRASHED, "ended by SIGSEGV (crashed in native code)"),
        (EXITED, "exited with code 3"),
    ],
)
def test_the_end_is_told_in_words(spawn: Callable[..., WorkerProcess], batch: int, words: str) -> None:
    worker = spawn()
    heard = listen(worker)
    worker.send(start_command())
    worker.send(batch_size(batch))
    until(lambda: bool(heard) and isinstance(heard[-1], tuple))
    assert heard[-1] == (words,)
    assert worker.log_tail()[-1] == f"last words before {batch}"
    worker.send(Stop())  # To a worker that is gone: nothing happens.


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, None),
        (1, "exited with code 1"),
        (-signal.SIGTERM, "ended by SIGTERM"),
        (-signal.SIGABRT, "ended by SIGABRT (crashed in native code)"),
        (-33, "ended by signal 33"),
    ],
)
def test_exit_codes_in_words(code: int, words: str | None) -> None:
    assert exit_in_words(code) == words


def test_a_line_that_is_no_report_becomes_one_warning(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    heard = listen(worker)
    worker.send(start_command())
    worker.send(batch_size(BROKEN))
    worker.send(Stop())
    until(lambda: (None,) in heard)
    warnings = [item.text for item in heard if isinstance(item, Said) and item.level == "warning"]
    assert len(warnings) == 1 and "not understood" in warnings[0]
    assert isinstance(heard[-2], Finished)


def test_stop_ends_a_willing_worker_without_a_kill(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn()
    heard = listen(worker)
    until(lambda: worker.hello is not None)
    worker.stop(grace_s=20)
    until(lambda: bool(heard) and isinstance(heard[-1], tuple))
    assert heard[-1] == (None,)
    worker.stop()
    assert not worker.running


def test_stop_kills_a_worker_that_does_not_listen(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn("--deaf")
    until(lambda: worker.hello is not None)
    worker.stop(grace_s=0.05)
    until(lambda: not worker.running)
    assert group_members(worker.pid) == []
    assert not Path(f"/proc/{worker.pid}").exists(), "it is left as a zombie"


def test_what_a_worker_leaves_behind_ends_with_it(spawn: Callable[..., WorkerProcess]) -> None:
    worker = spawn("--leave-child")
    heard = listen(worker)
    worker.send(start_command())
    worker.send(batch_size(KILLED))
    # The child holds the report pipe, so its end alone would tell nothing.
    until(lambda: bool(heard) and isinstance(heard[-1], tuple))
    until(lambda: not any(map(is_alive, group_members(worker.pid))))


def test_a_worker_that_reads_nothing_refuses_commands_and_blocks_nobody(
    spawn: Callable[..., WorkerProcess],
) -> None:
    worker = spawn("--deaf")
    until(lambda: worker.hello is not None)
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(WorkerError, match="takes no commands"):
        for _ in range(100_000):
            worker.send(Describe(preset=tiny_preset()))
    worker.stop(grace_s=0)
    until(lambda: not worker.running)


def test_the_worker_ends_with_its_parent_killed() -> None:
    script = textwrap.dedent(
        """
        import sys
        from gputrain_runner.process import WorkerProcess
        worker = WorkerProcess(sys.argv[1:])
        worker.attach(lambda report: print(worker.pid, flush=True), print)
        sys.stdin.read()
        """
    )
    command = [sys.executable, "-c", script, *arguments()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
        until(lambda: not is_alive(pid))


def test_a_program_that_is_not_there_is_one_line() -> None:
    with pytest.raises(WorkerError, match="cannot be started: /no/such/python: No such file"):
        WorkerProcess(["/no/such/python"])


def test_user_modules_do_not_reach_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spawn: Callable[..., WorkerProcess]
) -> None:
    (tmp_path / "types.py").write_text("raise SystemExit('a module of the user')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = spawn()
    until(lambda: worker.hello is not None)


def test_the_environment_handed_down() -> None:
    assert worker_environment({"PYTHONPATH": "/a:/b", "HOME": "/h"}) == {
        "GPUTRAIN_USER_PATH": "/a:/b",
        "HOME": "/h",
    }
    assert worker_environment({"HOME": "/h"}) == {"HOME": "/h"}
    # An installation that is itself found through PYTHONPATH stays there, the user's folders do not.
    ours = str(Path(gputrain_runner.__file__).parent.parent)
    assert worker_environment({"PYTHONPATH": f"/a:{ours}"}) == {
        "GPUTRAIN_USER_PATH": f"/a:{ours}",
        "PYTHONPATH": ours,
    }


def test_the_log_shows_plain_last_lines() -> None:
    log = LogFile()
    os.write(log.fileno(), b"first\n\x1b[31mred\x1b[0m\tlight\n\n 10%\r 99%\r\n\xff\n\x07last")
    assert log.tail(3) == [" 99%", "�", "last"]
    assert log.tail(99)[:2] == ["first", "red light"]


def test_the_log_does_not_grow_without_bounds() -> None:
    log = LogFile(largest_bytes=200_000)
    for number in range(40_000):
        os.write(log.fileno(), f"line {number}\n".encode())
        if number % 1000 == 0:
            log.keep_small()
    log.keep_small()
    os.write(log.fileno(), b"after\n")
    assert os.fstat(log.fileno()).st_size <= 200_000
    assert log.tail(2) == ["line 39999", "after"]
