"""A worker without PyTorch, to test sweeps with: answers `TimeSteps` at once, by the batch size it gets.

Run as a script it is the worker. A step of batch b takes 2 ms + 0.1 ms * b, forward a third of that; so a
test knows every figure by heart. `python fake_sweep_worker.py gputrain-tui ARGUMENTS` is the program with
this worker in place of the real one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from gputrain_presets import Preset
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import (
    Failed,
    Hello,
    Report,
    StepsTimed,
    TimeSteps,
    decode_command,
    encode,
)
from gputrain_runner.settings import Settings, initial
from gputrain_runner.sweep import Plan, Point
from gputrain_runner.timeline import Device

LARGEST = 1024
"""Larger batches do not fit."""
KILLED, CRASHED, HANGS, REFUSES, FAILS = 601, 602, 603, 604, 605
"""Batch sizes that end in SIGKILL, in SIGSEGV, never, in an outcome `failed`, and in `Failed`."""
TAKES_S = "FAKE_POINT_TAKES_S"
"""The environment variable that says how long it takes to answer."""
LOG = "FAKE_WORKER_LOG"
"""The one that names its log, for the program with this worker."""
OVERHEAD_MS, PER_SAMPLE_MS = 2.0, 0.1
DEVICES = [
    Device(device="cuda:0", name="a GPU", uuid="GPU-cuda:0", compute_capability="7.5"),
    Device(device="cpu", name="a CPU"),
]


def step_ms(settings: Settings) -> float:
    """What it says a step takes."""
    return OVERHEAD_MS + PER_SAMPLE_MS * settings.batch_size


def fake_worker(log: Path | None = None) -> Callable[[], WorkerProcess]:
    """Starts it; every point that it is asked for becomes a line of the log."""
    options = [] if log is None else ["--log", str(log)]
    return lambda: WorkerProcess([sys.executable, "-P", str(Path(__file__)), *options])


def asked(log: Path) -> list[tuple[int, str, int]]:
    """The points that it was asked for: its process, the passes and batch size."""
    lines = log.read_text().splitlines() if log.exists() else []
    found = [line.split() for line in lines]
    return [(int(pid), passes, int(batch)) for pid, passes, batch in found]


def tiny(name: str = "tiny", default_size: str = "small") -> Preset:
    """A preset with a ladder of two sizes."""
    return msgspec.convert(
        {
            "name": name,
            "title": "a tiny network",
            "batch_size": 8,
            "model": {
                "family": "mlp",
                "inputs": 4,
                "outputs": 2,
                "activation": "relu",
                "default_size": default_size,
                "sizes": [{"name": "small", "hidden": [8]}, {"name": "large", "hidden": [80]}],
            },
            "data": {"kind": "teacher", "training_samples": 100_000, "validation_samples": 10},
            "loss": {"kind": "mse"},
            "optimizer": {"kind": "sgd", "lr": 0.1},
        },
        Preset,
    )


def plan(*batches: int, runs: int = 4, rounds: int = 1, device: str = "cpu", **options: object) -> Plan:
    """A plan of the tiny preset over these batch sizes, in training."""
    usual = initial(tiny(), device)
    points = [Point(preset="tiny", settings=usual.with_value("batch_size", batch)) for batch in batches]
    given = {"point_seconds": 5.0, **options}
    return Plan(points=points, runs=runs, warmup=1, rounds=rounds, **given)  # type: ignore[arg-type]


class FakeSweepWorker:
    """Times nothing, but says so."""

    def __init__(self, control_fd: int, report_fd: int, log: str | None) -> None:
        self._control_fd, self._report_fd, self._log = control_fd, report_fd, log

    def run(self) -> None:
        """Say hello and answer."""
        self._say(Hello(torch="2.99.0", cuda=None, cudnn=None, devices=DEVICES, threads=2))
        for command in self._commands():
            assert isinstance(command, TimeSteps)
            if self._log is not None:
                with Path(self._log).open("a") as file:
                    line = f"{os.getpid()} {command.settings.passes} {command.settings.batch_size}\n"
                    file.write(line)
            self._say(self._answer(command))

    def _commands(self) -> Iterator[object]:
        unfinished = b""
        while chunk := os.read(self._control_fd, 65536):
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            yield from map(decode_command, lines)

    def _say(self, report: Report) -> None:
        os.write(self._report_fd, encode(report))

    def _answer(self, command: TimeSteps) -> Report:
        settings = command.settings
        time.sleep(float(os.environ.get(TAKES_S, "0")))
        batch = settings.batch_size
        if batch in (KILLED, CRASHED):
            print(f"last words before {batch}", flush=True)
            os.kill(os.getpid(), signal.SIGKILL if batch == KILLED else signal.SIGSEGV)
        if batch == HANGS:
            time.sleep(600)
        if batch == FAILS:
            return Failed(at=time.monotonic(), error="the device fell off the bus")
        if batch == REFUSES or batch > LARGEST:
            short = batch > LARGEST
            return StepsTimed(
                at=time.monotonic(),
                outcome="out_of_memory" if short else "failed",
                error="out of memory: needs another 1 GB" if short else "the loss is no number",
                settings=settings,
            )
        return _timed(command)


def _timed(command: TimeSteps) -> StepsTimed:
    settings = command.settings
    whole = step_ms(settings)
    trains = settings.passes == "training"
    now = time.monotonic()
    return StepsTimed(
        at=now,
        outcome="ok",
        error=None,
        settings=settings,
        began_at=now - 0.5,
        forward_ms=[whole / 3] * command.runs,
        forward_backward_ms=[whole * 0.9] * command.runs if trains else [],
        step_ms=[whole] * command.runs,
        peak_memory_bytes=1000 * settings.batch_size,
        flops_per_sample=1000,
    )


def program(arguments: list[str]) -> int:
    """The program with this worker."""
    from gputrain_tui import cli

    log = os.environ.get(LOG)
    worker = [sys.executable, "-P", str(Path(__file__)), *(["--log", log] if log else [])]
    WorkerProcess.__init__.__defaults__ = (worker,)
    return cli.main(arguments)


def main() -> int:
    """Be the worker, or the program."""
    if sys.argv[1:2] == ["gputrain-tui"]:
        return program(sys.argv[2:])
    parser = argparse.ArgumentParser()
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--report-fd", type=int, required=True)
    parser.add_argument("--log")
    options = parser.parse_args()
    FakeSweepWorker(options.control_fd, options.report_fd, options.log).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
