"""Telemetry in a process of its own, on the simulated driver, told what to do line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .driver import SimulatedDriver

DEADLINE_S = 30.0
"""Far beyond what anything here takes: reached only when something is wrong."""


class WatchedTelemetry:
    """Drives `Telemetry` in a process with the given environment; ends it on leaving."""

    def __init__(self, environment: Mapping[str, str], interval_s: float = 0.05) -> None:
        first = environment.get("PYTHONPATH", "")
        path = os.pathsep.join(entry for entry in (first, *sys.path) if entry)
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve()), str(interval_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "PYTHONPATH": path},
        )

    def __enter__(self) -> WatchedTelemetry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def tell(self, *words: str | int) -> Any:
        """Have one command done; what it answers, as attributes."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(*words, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline(), object_hook=lambda pairs: SimpleNamespace(**pairs))

    def latest(self) -> Any:
        """The reading as it is now."""
        return self.tell("latest")

    def until(self, wanted: Callable[[Any], bool]) -> Any:
        """The first reading that is as wanted."""
        deadline = time.monotonic() + DEADLINE_S
        while not wanted(reading := self.latest()):
            assert time.monotonic() < deadline, reading
            time.sleep(0.02)
        return reading

    def leave(self) -> int:
        """Let the process end by itself; its exit status."""
        self.process.communicate(timeout=DEADLINE_S)
        return self.process.returncode


def measures(reading: Any) -> bool:
    """Whether the first GPU has been read."""
    return bool(reading.gpus) and reading.gpus[0].memory_used_bytes is not None


def has_rates(reading: Any) -> bool:
    """Whether the first GPU has PCIe rates, which need two rounds where they come from counters."""
    return bool(reading.gpus) and reading.gpus[0].pcie_rx_bytes_per_s is not None


def wait_for_rounds(driver: SimulatedDriver, watched: WatchedTelemetry, rounds: int) -> None:
    """Until the first GPU has been asked that many times more."""
    asked = driver.calls("nvmlDeviceGetMemoryInfo_v2", gpu=0)
    watched.until(lambda _: driver.calls("nvmlDeviceGetMemoryInfo_v2", gpu=0) >= asked + rounds)


def _obey() -> None:
    import msgspec

    from gputrain_runner.telemetry import Telemetry

    telemetry = Telemetry(interval_s=float(sys.argv[1]))
    for line in sys.stdin:
        answer: object = None
        match line.split():
            case ["latest"]:
                answer = telemetry.latest()
            case ["start"]:
                telemetry.start()
            case ["stop"]:
                telemetry.stop()
            case ["watch", pid]:
                telemetry.watch(int(pid))
            case ["focus", *uuids]:
                telemetry.focus(uuids)
            case ["imported"]:
                answer = sorted({name.partition(".")[0] for name in sys.modules})
        print(msgspec.json.encode(answer).decode(), flush=True)


if __name__ == "__main__":
    _obey()
