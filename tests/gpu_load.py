"""A known load on a GPU, in a process of its own: idle, matrix products, copies to it and from it.

Run as a script (`gpu_load.py DEVICE`) it takes a stage's name a line, works on it until the next line
comes, and says in a JSON line each when it began and what it had done by its end.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

IDLE, PRODUCTS, TO_DEVICE, TO_HOST = "idle", "products", "to_device", "to_host"
STAGES = (IDLE, PRODUCTS, TO_DEVICE, TO_HOST)
COPY_BYTES = 256 << 20
COPIES = 4
"""Asked for without waiting in between: some ten milliseconds on the fastest link."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What was done."""

    seconds: float
    copied_bytes: int

    @property
    def bytes_per_s(self) -> float:
        """Copied over time."""
        return self.copied_bytes / self.seconds


class Load:
    """The process, as a context.

    Attributes:
        uuid: of its GPU, as PyTorch spells it; "" on a CPU.
    """

    def __init__(self, device: str, copy_bytes: int = COPY_BYTES) -> None:
        command = [sys.executable, "-P", str(Path(__file__).resolve()), device, str(copy_bytes)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.uuid = ""

    def __enter__(self) -> Load:
        self.uuid = self._hear()["uuid"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def begin(self, stage: str) -> None:
        """Begin it; returns when it works."""
        self._say(stage)
        assert self._hear() == {"began": stage}

    def end(self) -> Stage:
        """End what was begun."""
        self._say("")
        said = self._hear()
        return Stage(said["seconds"], said["copied_bytes"])

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        print(line, file=self._process.stdin, flush=True)

    def _hear(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the load's process has ended"
        heard: dict[str, Any] = json.loads(line)
        return heard


def settled(values: Sequence[float | None]) -> list[float]:
    """Of a reading's values, as they were looked at again and again, those that a steady load gave.

    A value stands until there is a newer one. The first of a load was known before it began, the second
    may be a mean over its beginning.
    """
    news = [value for at, value in enumerate(values) if at == 0 or value != values[at - 1]]
    return [value for value in news[2:] if value is not None]


def _works(device: torch.device, copy_bytes: int) -> dict[str, Callable[[], int]]:
    """By stage, some milliseconds of its work; each returns the bytes that it copied."""
    import torch

    on_cuda = device.type == "cuda"
    side = 8192 if on_cuda else 64
    left, right = (torch.randn(side, side, device=device) for _ in range(2))
    if on_cuda:
        kind = torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16
        left, right = left.to(kind), right.to(kind)
    on_host = torch.empty(copy_bytes, dtype=torch.uint8, pin_memory=on_cuda).fill_(1)
    on_device = torch.empty(copy_bytes, dtype=torch.uint8, device=device).fill_(1)

    def done() -> None:
        if on_cuda:
            torch.cuda.synchronize(device)

    def rest() -> int:
        time.sleep(0.02)
        return 0

    def products() -> int:
        for _ in range(8):
            torch.mm(left, right)
        done()
        return 0

    def copies(source: torch.Tensor, target: torch.Tensor) -> int:
        for _ in range(COPIES):
            target.copy_(source, non_blocking=True)
        done()
        return COPIES * copy_bytes

    return {
        IDLE: rest,
        PRODUCTS: products,
        TO_DEVICE: lambda: copies(on_host, on_device),
        TO_HOST: lambda: copies(on_device, on_host),
    }


def _serve() -> None:
    import torch

    device, copy_bytes = torch.device(sys.argv[1]), int(sys.argv[2])
    works = _works(device, copy_bytes)
    uuid = str(torch.cuda.get_device_properties(device).uuid) if device.type == "cuda" else ""
    print(json.dumps({"uuid": uuid}), flush=True)
    while line := sys.stdin.readline():
        stage = line.strip()
        if not stage:
            continue
        work = works[stage]
        work()
        print(json.dumps({"began": stage}), flush=True)
        began, copied = time.perf_counter(), 0
        while not select.select([sys.stdin], [], [], 0)[0]:
            copied += work()
        seconds = time.perf_counter() - began
        sys.stdin.readline()
        print(json.dumps({"seconds": seconds, "copied_bytes": copied}), flush=True)


if __name__ == "__main__":
    _serve()
