"""Sweeps to report on, as their files hold them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gputrain_presets import load
from gputrain_runner.settings import Settings
from gputrain_runner.sweep.fits import fits_of
from gputrain_runner.sweep.result import Ms, PointResult, SweepFile, save
from gputrain_runner.timeline import Device, Host

NETS = (("alexnet", 0.4, 1.2), ("vgg", 2.0, 6.0), ("googlenet", 1.5, 3.0))
"""Net, and the a and c of its line t(b) = a + c*b on the GPU, in ms."""
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)


def point(name: str, device: str, batch: int, passes: str, a_ms: float, c_ms: float) -> PointResult:
    """A point on that line; forward takes a third of it, VGG at batch 128 does not fit on the GPU."""
    settings = Settings(
        device=device, batch_size=batch, model_size=load(name).model.default_size, passes=passes
    )
    if (name, device, batch) == ("vgg", "cuda:0", 128):
        return PointResult(
            preset=name,
            settings=settings,
            passes=passes,
            outcome="out_of_memory",
            error="out of memory: 9.2 GiB asked for <here>",
            runs=0,
            rounds=1,
        )
    share = 1.0 if passes == "training" else 1 / 3
    time = (a_ms + c_ms * batch) * share * (1.12 if batch == 8 else 1.0)
    ms = Ms(median=time, iqr=time * 0.02, min=time * 0.97, max=time * 1.2)
    return PointResult(
        preset=name,
        settings=settings,
        passes=passes,
        outcome="ok",
        error=None,
        runs=100,
        rounds=5,
        ms=ms,
        forward_ms=Ms(median=time * (1 if share < 1 else 1 / 3), iqr=0.01, min=time * 0.3, max=time),
        forward_backward_ms=ms if passes == "training" else None,
        step_ms=Ms(median=time * 1.1, iqr=time * 0.02, min=time, max=time * 1.3),
        samples_per_s=batch / (time * 1.1) * 1e3,
        ms_per_sample=time * 1.1 / batch,
        peak_memory_bytes=batch * 50_000_000,
        flops_per_s=1e12,
        telemetry={"utilisation": 0.9},
        noisy=batch == 1,
    )


def sweep(
    *, batches: tuple[int, ...] = BATCHES, nets: tuple[str, ...] = ("alexnet", "vgg", "googlenet")
) -> SweepFile:
    """Those nets on a GPU and a slower CPU, forward and training, over batch sizes."""
    points = [
        point(name, device, batch, passes, a * slower, c * slower)
        for name, a, c in NETS
        if name in nets
        for device, slower in (("cuda:0", 1.0), ("cpu", 25.0))
        for batch in batches
        for passes in ("forward", "training")
    ]
    return SweepFile(
        started_at="2026-11-30T10:12:05.000+00:00",
        command=["gputrain-tui", "sweep", *nets],
        host=Host(os="Linux", cpu="A CPU", cores=8, memory_bytes=1 << 34, python="3.11.7", over_ssh=False),
        devices=[Device(device="cuda:0", name="NVIDIA H200"), Device(device="cpu", name="A CPU")],
        planned=len(points),
        complete=True,
        runs=100,
        warmup=10,
        rounds=5,
        points=points,
        fits=fits_of(points),
        presets={name: msgspec.to_builtins(load(name)) for name in nets},
    )


def write_sweep(path: Path, made: SweepFile | None = None) -> Path:
    """Such a sweep in a file."""
    save(path, made or sweep())
    return path
