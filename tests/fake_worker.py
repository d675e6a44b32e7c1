"""A worker without PyTorch, to test sessions with: speaks the protocol, on a clock of its own.

Run as a script it is the worker. It reports as fast as it can; the times it reports are made up, a
quarter of a second from one report to the next, so that what a session makes of them never depends on
the machine.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from gputrain_presets import Preset
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.process import WorkerProcess
from gputrain_runner.protocol import (
    Changed,
    ChangeSetting,
    Command,
    Failed,
    Finished,
    Hello,
    Pause,
    Paused,
    Probe,
    Probed,
    Progress,
    Report,
    Resume,
    Resumed,
    Said,
    Start,
    Started,
    Stop,
    decode_command,
    encode,
)
from gputrain_runner.settings import Settings, Value
from gputrain_runner.timeline import Device, KindOfWork, Phase, Profile, StepMs, Validation

BEGAN = 1000.0
"""What the made-up clock says first."""
STEADY = 12
"""Steady reports after a start or a change; three unsteady ones come before them."""

TOO_LARGE = 65536
"""A batch size that it gives up, out of memory."""
KILLED, CRASHED, EXITED, FAILED, BROKEN = 661, 662, 663, 664, 665
"""Batch sizes that end it: SIGKILL, SIGSEGV, exit code 3, `Failed`, and a line that is no report."""
SILENT_BELOW = 64
"""A change to a batch size below this is followed by no reports of steps."""


def arguments(*options: str) -> list[str]:
    """The command that runs it."""
    return [sys.executable, "-P", str(Path(__file__)), *options]


def fake_worker(*options: str) -> Callable[[], WorkerProcess]:
    """Starts it as a session's worker."""
    return lambda: WorkerProcess(arguments(*options))


def until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    """Wait until the condition holds; AssertionError where it does not in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


def made_up_ceilings(device: str) -> Ceilings:
    """What it finds of a device."""
    rate = Figure(median=1e12, q25=0.99e12, q75=1.01e12, repeats=9)
    return Ceilings(
        device=device,
        uuid=f"GPU-{device}",
        measured_at="2026-11-30T10:00:00+00:00",
        torch="2.99.0",
        driver=None if device == "cpu" else "570.86",
        matmul_flops_per_s={"fp32": rate},
    )


def _phases(**host_ms: float) -> dict[str, Phase]:
    return {name: Phase(host_ms=took) for name, took in host_ms.items()}


WAITING = Profile(
    steps=5, step_ms=25.0, work_ms=4.0, launches=40, work={"matmul": KindOfWork(ms=4.0, count=40)}
)
"""The burst of a training that waits for its data."""


class FakeWorker:
    """Trains nothing, but says so."""

    def __init__(
        self,
        control_fd: int,
        report_fd: int,
        devices: list[str],
        epoch_steps: int,
        mute_probe: bool = False,
        waits: bool = False,
    ) -> None:
        self._control_fd, self._report_fd = control_fd, report_fd
        self._devices = devices
        self._epoch_steps = epoch_steps
        self._mute_probe = mute_probe
        self._waits = waits
        self._now = BEGAN
        self._step = 0
        self._samples = 0

    def run(self, deaf: bool) -> int:
        """Say hello and answer commands; the exit code."""
        self._say(
            Hello(
                torch="2.99.0",
                cuda=None,
                cudnn=None,
                devices=[Device(device=name, uuid=f"GPU-{name}") for name in self._devices],
                threads=2,
                cuda_absence=None if self._devices[0] != "cpu" else "no driver: install one",
            )
        )
        for command in self._commands():
            if not deaf or isinstance(command, Start):
                self._obey(command)
            if isinstance(command, Stop) and not deaf:
                break
        while deaf:
            time.sleep(60)
        return 0

    def _commands(self) -> Iterator[Command]:
        unfinished = b""
        while chunk := os.read(self._control_fd, 65536):
            *lines, unfinished = (unfinished + chunk).split(b"\n")
            yield from map(decode_command, lines)

    def _say(self, report: Report) -> None:
        os.write(self._report_fd, encode(report))

    def _obey(self, command: Command) -> None:
        if isinstance(command, Start):
            self._start(command)
        elif isinstance(command, ChangeSetting):
            self._change(command.setting, command.to, command.asked_at)
        elif isinstance(command, Pause):
            self._say(Paused(at=self._now, step=self._step))
        elif isinstance(command, Resume):
            self._say(Resumed(at=self._now))
        elif isinstance(command, Probe):
            self._probe(command)
        elif isinstance(command, Stop):
            self._finish(stopped=True)

    def _start(self, start: Start) -> None:
        print("building the model", flush=True)
        self._settings = start.settings
        data = "synthetic stand-in"
        self._say(
            Started(
                at=self._now,
                settings=start.settings,
                data=data,
                synthetic=True,
                parameters=10,
                training_samples=start.preset.data.training_samples,
                validation_samples=0,
            )
        )
        self._say(Said(at=self._now, level="info", text=f"seed {start.seed}"))
        self._train()
        for change in start.scheduled:
            self._step = change.step
            self._change(change.setting, change.to, self._now)
        if start.steps is not None:
            self._step = start.steps
            self._finish(stopped=False)

    def _probe(self, probe: Probe) -> None:
        if self._mute_probe:
            return
        for device in probe.devices:
            self._now += probe.seconds_each
            there = device in self._devices
            self._say(
                Probed(
                    at=self._now,
                    device=device,
                    ceilings=made_up_ceilings(device) if there else None,
                    error=None if there else f"there is no device {device} here",
                    more=device != probe.devices[-1],
                )
            )

    def _change(self, setting: str, to: Value, asked_at: float) -> None:
        if setting == "batch_size":
            self._end_by(to)
        before = self._settings
        ok = to != TOO_LARGE
        if ok:
            self._settings = before.with_value(setting, to)
        self._say(
            Changed(
                asked_at=asked_at,
                done_at=asked_at + 0.02,
                step=self._step,
                setting=setting,
                from_=before.value(setting),
                to=to,
                ok=ok,
                error=None if ok else "out of memory: needs another 160 GB, 139 GB are free",
                settings=self._settings,
            )
        )
        if ok and self._settings.batch_size >= SILENT_BELOW:
            self._train()

    def _end_by(self, batch_size: Value) -> None:
        print(f"\x1b[1mlast words\x1b[0m before {batch_size}", flush=True)
        if batch_size == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        elif batch_size == CRASHED:
            os.kill(os.getpid(), signal.SIGSEGV)
        elif batch_size == EXITED:
            os._exit(3)
        elif batch_size == FAILED:
            self._say(Failed(at=self._now, error="the loss of a device", usage=False))
            os._exit(1)
        elif batch_size == BROKEN:
            os.write(self._report_fd, b'{"type":"Neither"}\nnor this\n')

    def _train(self) -> None:
        for index in range(3 + STEADY):
            self._now += 0.25
            self._step += 10
            self._samples += 10 * self._settings.batch_size
            self._say(self._progress(self._settings, index))

    def _progress(self, settings: Settings, index: int) -> Progress:
        per_s = settings.batch_size * 40.0 * (1 + (index % 3 - 1) / 100)
        ends_epoch = self._step % self._epoch_steps == 0
        epoch = self._step // self._epoch_steps
        validation = (
            Validation(epoch=epoch, host_ms=5.0, samples=100, loss=0.5 / epoch, accuracy=0.9)
            if ends_epoch
            else None
        )
        return Progress(
            at=self._now,
            step=self._step,
            epoch=epoch,
            samples=self._samples,
            settings=settings,
            steady=index >= 3,
            samples_per_s=per_s,
            steps_per_s=40.0,
            step_ms=StepMs(p50=25.0, p95=26.0, mean=25.0),
            loss=10.0 / self._step,
            phases=_phases(data=20.0, forward=4.0, other=1.0)
            if self._waits
            else _phases(forward=10.0, other=15.0),
            profile=WAITING if self._waits and index == 3 else None,
            dispatch_ms=20.0,
            flops_per_s=per_s * 1e3,
            memory=None,
            validation=validation,
        )

    def _finish(self, stopped: bool) -> None:
        self._say(
            Finished(
                at=self._now,
                step=self._step,
                epoch=self._step // self._epoch_steps,
                samples=self._samples,
                loss_first=3.5,
                loss_last=0.125,
                stopped=stopped,
            )
        )


def tiny_preset() -> Preset:
    """A preset whose values a test can know by heart."""
    import msgspec

    return msgspec.convert(
        {
            "name": "tiny",
            "title": "a tiny network",
            "origin": "a test",
            "batch_size": 1024,
            "model": {
                "family": "mlp",
                "inputs": 4,
                "outputs": 2,
                "activation": "relu",
                "default_size": "small",
                "sizes": [{"name": "small", "hidden": [8]}, {"name": "large", "hidden": [80]}],
            },
            "data": {"kind": "teacher", "training_samples": 1_000_000, "validation_samples": 10},
            "loss": {"kind": "mse"},
            "optimizer": {"kind": "sgd", "lr": 0.1},
        },
        Preset,
    )


def main() -> int:
    """Be the worker."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--control-fd", type=int, required=True)
    parser.add_argument("--report-fd", type=int, required=True)
    parser.add_argument("--devices", default="cpu")
    parser.add_argument("--epoch-steps", type=int, default=100)
    parser.add_argument("--deaf", action="store_true", help="take Start alone, and never end by itself")
    parser.add_argument("--mute-probe", action="store_true", help="never answer a probe")
    parser.add_argument("--waits", action="store_true", help="four fifths of a step are spent on its data")
    parser.add_argument("--leave-child", action="store_true", help="fork a child that holds the pipes")
    options = parser.parse_args()
    if options.deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.leave_child and os.fork() == 0:
        time.sleep(600)
        os._exit(0)
    devices = options.devices.split(",")
    fds = options.control_fd, options.report_fd
    return FakeWorker(*fds, devices, options.epoch_steps, options.mute_probe, options.waits).run(options.deaf)


if __name__ == "__main__":
    sys.exit(main())
