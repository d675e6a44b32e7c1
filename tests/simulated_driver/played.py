"""The telemetry, a session and the app over it in a process of their own, on the simulated driver.

Only the worker is a fake: it trains nothing on the GPU that is CUDA's first. Told what to do line by line.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gputrain_runner.timeline import Change

if TYPE_CHECKING:
    from gputrain_runner.session import Session

DEADLINE_S = 30.0
"""Far beyond what anything here takes: reached only when something is wrong."""
TESTS = str(Path(__file__).resolve().parent.parent)


class PlayedApp:
    """Drives the app in a process with the given environment; ends it on leaving."""

    def __init__(
        self,
        environment: Mapping[str, str],
        recording: Path,
        *,
        devices: str = "cuda:0,cuda:1,cpu",
        size: tuple[int, int] = (160, 48),
        interval_s: float = 0.1,
    ) -> None:
        columns, rows = size
        path = os.pathsep.join([TESTS, *(entry for entry in sys.path if entry)])
        self.recording = recording
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-P", str(Path(__file__).resolve())),
                *map(str, (recording, devices, columns, rows, interval_s)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONPATH": path},
        )

    def __enter__(self) -> PlayedApp:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, *words: str) -> Any:
        """Have one command done; what it answers."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(*words, file=self.process.stdin, flush=True)
        watchdog = threading.Timer(DEADLINE_S, self.process.kill)
        watchdog.start()
        answer = self.process.stdout.readline()
        watchdog.cancel()
        assert answer, f"no answer to {words}: the process has ended, or was ended after {DEADLINE_S:.0f} s"
        return json.loads(answer)

    def latest(self) -> dict[str, Any]:
        """The telemetry's reading as it is now."""
        reading: dict[str, Any] = self.tell("latest")
        return reading

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first reading that is as wanted."""
        deadline = time.monotonic() + DEADLINE_S
        while not wanted(reading := self.latest()):
            assert time.monotonic() < deadline, reading
            time.sleep(0.05)
        return reading

    def begin(self) -> None:
        """Let the session begin, and its screen; the telemetry is at work already."""
        self.tell("begin")

    def screen(self, *keys: str) -> str:
        """What is on the screen, after these keys."""
        return str(self.tell("screen", *keys))

    def take_steps(self) -> None:
        """Have the worker report steps, so that samples of this moment are recorded."""
        self.tell("steps")

    def change(self, setting: str, value: str) -> None:
        """Have a setting changed."""
        self.tell("set", setting, value)

    def worker_pid(self) -> int:
        """The worker's process."""
        return int(self.tell("worker"))

    def end(self) -> dict[str, Any]:
        """End the session; what it recorded."""
        self.tell("end")
        recorded: dict[str, Any] = json.loads(self.recording.read_text())
        return recorded


def _say(answer: object) -> None:
    import msgspec

    print(msgspec.json.encode(answer).decode(), flush=True)


def _changes(session: Session) -> int:
    return sum(isinstance(entry, Change) for entry in session.read(0)[0])


async def _obey(recording: Path, devices: str, size: tuple[int, int], interval_s: float) -> None:
    from gputrain_runner.telemetry import Telemetry

    telemetry = Telemetry(interval_s=interval_s)
    telemetry.start()
    while sys.stdin.readline().strip() == "latest":
        _say(telemetry.latest())

    from fake_feed import FakeSessions
    from fake_worker import fake_worker, tiny_preset
    from gputrain_runner.options import SessionOptions
    from gputrain_runner.process import WorkerProcess
    from gputrain_runner.session import Session
    from gputrain_tui.app import GpuTrainApp
    from screen_text import look

    worker_pids = []

    def spawn() -> WorkerProcess:
        worker = fake_worker("--devices", devices)()
        worker_pids.append(worker.pid)
        return worker

    session = Session(
        SessionOptions(preset=tiny_preset(), record=recording), telemetry=telemetry, spawn=spawn
    )
    session.start()
    batch_size = 128
    async with GpuTrainApp(FakeSessions(gpu=True), session).run_test(size=size) as pilot:
        _say(None)
        while line := await asyncio.to_thread(sys.stdin.readline):
            answer: object = None
            match line.split():
                case ["latest"]:
                    answer = telemetry.latest()
                case ["screen", *keys]:
                    await pilot.press(*keys)
                    answer = await look(pilot)
                case ["steps"]:
                    batch_size = 384 - batch_size
                    changes = _changes(session)
                    session.change("batch_size", batch_size)
                    while _changes(session) == changes:
                        await asyncio.sleep(0.02)
                    # All its reports come in one go, right behind the change.
                    await asyncio.sleep(0.2)
                case ["set", setting, value]:
                    session.change(setting, value)
                case ["worker"]:
                    answer = worker_pids[-1]
                case ["end"]:
                    await asyncio.to_thread(session.stop)
            _say(answer)


if __name__ == "__main__":
    _recording, _devices, _columns, _rows, _interval_s = sys.argv[1:]
    asyncio.run(_obey(Path(_recording), _devices, (int(_columns), int(_rows)), float(_interval_s)))
