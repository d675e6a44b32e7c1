"""Recordings of short sessions on a made-up machine, as they lie in a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs, to_builtins

from gputrain_presets import load
from gputrain_runner.recorder import Recorder
from gputrain_runner.settings import initial
from gputrain_runner.timeline import Device, Header, Host, SessionInfo
from timelines import sample, summary

EPYC = Device(device="cpu", name="AMD EPYC 9V74 80-Core Processor")
H200 = Device(device="cuda:0", name="NVIDIA H200", uuid="GPU-1")
STEADY = tuple(1000.0 + n % 5 for n in range(40))
LONG_AGO_S = 60.0


def record(
    path: Path,
    started_at: str = "2026-11-30T10:12:05.000+00:00",
    *,
    device: Device = EPYC,
    preset: str = "lasagne-mlp",
    rates: Sequence[float] = STEADY,
    batch_size: int = 1024,
    ends: bool = True,
    untouched_s: float = LONG_AGO_S,
) -> Path:
    """A recording; without an end its writer was killed, or, `untouched_s` being small, goes on."""
    settings = structs.replace(initial(load(preset), device.device), batch_size=batch_size)
    host = Host(os="Linux", cpu=EPYC.name, cores=2, memory_bytes=1 << 34, python="3.11.7", over_ssh=False)
    info = SessionInfo(
        id="1",
        started_at=started_at,
        preset=to_builtins(load(preset)),
        settings=settings,
        command=["gputrain-tui"],
    )
    recorder = Recorder(path, Header(session=info, host=host, devices=[device, *([EPYC] * (device != EPYC))]))
    for position, rate in enumerate(rates):
        recorder.write(position, sample((position + 1) / 4, samples_per_s=rate, settings=settings))
    if ends:
        recorder.complete(summary())
    touched_s = path.stat().st_mtime - untouched_s
    os.utime(path, (touched_s, touched_s))
    return path
