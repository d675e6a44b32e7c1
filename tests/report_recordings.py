"""Recordings to report on: a session on a made-up machine with two GPUs, with something of every kind."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gputrain_presets import load
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.recorder import Recorder
from gputrain_runner.settings import Settings, Value
from gputrain_runner.timeline import (
    Change,
    Device,
    Effect,
    Entry,
    FinalValidation,
    Finding,
    Gpu,
    Header,
    Host,
    HostLoad,
    KindOfWork,
    Memory,
    Message,
    PcieMax,
    Phase,
    Profile,
    Rate,
    Remedy,
    Sample,
    SessionInfo,
    StepMs,
    Summary,
    Validation,
    Verdict,
)

EVERY_S = 0.25
GIB = 1 << 30
UUIDS = ("GPU-11111111-aaaa", "GPU-22222222-bbbb")
START = Settings(device="cuda:0", batch_size=128, model_size="750", threads=16)
TURNS: tuple[tuple[float, str, Value, float | None, bool], ...] = (
    (0.2, "batch_size", 256, 1.8, True),
    (0.35, "data_path", "prefetch", 1.25, True),
    (0.5, "execution", "graph", 4.1, True),
    (0.7, "precision", "bf16", None, True),
    (0.8, "batch_size", 1 << 20, None, False),
)
"""At which share of the session what is turned to what, what was predicted of it, whether it worked."""
GAINS = {"batch_size": 1.9, "data_path": 1.31, "execution": 3.6, "precision": 1.02}


def header(title: str = "MNIST MLP 784-750-150-50-50-10, ReLU, dropout, batch 128") -> Header:
    """The machine and what was started on it."""
    preset = msgspec.to_builtins(load("keras-mnist-mlp"))
    preset["title"] = title
    link = PcieMax(generation_max=5, width_max=16)
    return Header(
        session=SessionInfo(
            id="0123",
            started_at="2026-11-30T10:12:05.000+00:00",
            preset=preset,
            settings=START,
            command=["gputrain-tui", "run", "keras-mnist-mlp", "--record", "a name with spaces.json"],
            data="synthetic: ten random strokes",
            flags={"cuda.matmul.allow_tf32": False, "num_threads": 16},
        ),
        host=Host(
            os="Linux 6.8",
            cpu="A CPU",
            cores=32,
            memory_bytes=128 * GIB,
            python="3.11.7",
            over_ssh=True,
            torch="2.13.0+cu130",
            cuda="13.0",
            cudnn="9.2",
            driver="580.95",
        ),
        devices=[
            *(
                Device(
                    device=f"cuda:{at}",
                    name="NVIDIA H200",
                    uuid=uuid,
                    memory_bytes=141 * GIB,
                    compute_capability="9.0",
                    pcie=link,
                )
                for at, uuid in enumerate(UUIDS)
            ),
            Device(device="cpu", name="A CPU", memory_bytes=128 * GIB),
        ],
        probe={
            "cuda:0": Ceilings(
                device="cuda:0",
                measured_at="2026-11-30T10:00:00Z",
                matmul_flops_per_s={"fp32": Figure(median=51e12, q25=50e12, q75=52e12, repeats=5)},
                memory_bytes_per_s=Figure(median=4.1e12, q25=4e12, q75=4.2e12, repeats=5),
            )
        },
    )


def entries(seconds: float) -> Iterator[Entry]:
    """The timeline of a session of that length, four samples a second."""
    chance = random.Random(7)
    settings, speed, step, position = START, 1.0, 0, 0
    turns = list(TURNS)
    waiting: tuple[float, int, str, float | None, float] | None = None
    verdict_at = 4.0
    for number in range(1, int(seconds / EVERY_S) + 1):
        t = number * EVERY_S
        if turns and t >= turns[0][0] * seconds:
            _, name, to, predicted, ok = turns.pop(0)
            told = None if ok else "out of memory: 12.4 GiB asked for, 3.1 GiB free"
            before = settings.value(name)
            yield Change(
                t=t, step=step, setting=name, from_=before, to=to, ok=ok, error=told, applied_in_ms=42.0
            )
            if ok:
                settings = settings.with_value(name, to)
                waiting = (t + 0.05 * seconds, position, name, predicted, speed)
                speed *= GAINS[name]
                verdict_at = t + 0.08 * seconds
            position += 1
        if waiting is not None and t >= waiting[0]:
            yield _effect(t, *waiting[1:])
            waiting, position = None, position + 1
        if t >= verdict_at:
            yield _verdict(t, settings)
            verdict_at, position = math.inf, position + 1
        if number % 400 == 1:
            yield Message(t=t, level="warning", text=f"<b>something</b> & other at {t:.0f} s")
            position += 1
        made = _sample(t, step, settings, speed, waiting is None, chance, t / seconds)
        step = made.step
        yield made
        position += 1


def _sample(
    t: float,
    step: int,
    settings: Settings,
    speed: float,
    steady: bool,
    chance: random.Random,
    progress: float,
) -> Sample:
    noise = chance.gauss(1, 0.02) * (0.7 if chance.random() < 0.01 else 1.0)
    rate = 180_000 * speed * noise
    ms = settings.batch_size / rate * 1e3
    shares = {"data": 0.04, "h2d": 0.1, "forward": 0.3, "backward": 0.32, "optimizer": 0.2, "other": 0.04}
    busy = min(0.95, 0.21 * speed**0.8)
    phases = {
        name: Phase(host_ms=share * ms, device_ms=None if name in ("data", "other") else share * ms * busy)
        for name, share in shares.items()
    }
    validation = None
    if int(t / EVERY_S) % 80 == 0:
        epoch = int(t / EVERY_S) // 80
        validation = Validation(
            epoch=epoch, host_ms=30.0, samples=10_000, loss=0.3 + 1.5 * math.exp(-5 * progress), accuracy=0.9
        )
    return Sample(
        t=t,
        step=step + round(EVERY_S * rate / settings.batch_size),
        epoch=int(t / 20),
        settings=settings,
        steady=steady,
        samples_per_s=rate,
        steps_per_s=rate / settings.batch_size,
        step_ms=StepMs(p50=ms, p95=ms * 1.15, mean=ms * 1.01),
        loss=0.25 + 2.05 * math.exp(-6 * progress) * chance.gauss(1, 0.05),
        phases=phases,
        dispatch_ms=ms * 0.8,
        busy=busy,
        profile=_profile(ms, busy) if int(t / EVERY_S) % 40 == 10 else None,
        flops_per_s=rate * 4.2e6,
        memory=Memory(allocated_bytes=2 * GIB, reserved_bytes=3 * GIB, peak_allocated_bytes=int(2.4 * GIB)),
        validation=validation,
        trained_s=t,
        gpus=[_gpu(0, busy, rate, chance), _gpu(1, 0.0, 0.0, chance)],
        host=HostLoad(
            cpu_utilisation=0.12 * noise,
            busiest_core_utilisation=0.97,
            worker_cpu_utilisation=1.3 * noise,
            others_cpu_utilisation=0.4,
            worker_rss_bytes=3 * GIB,
            usable_cores=32.0,
        ),
    )


def _gpu(at: int, busy: float, rate: float, chance: random.Random) -> Gpu:
    return Gpu(
        index=at,
        uuid=UUIDS[at],
        name="NVIDIA H200",
        utilisation=min(1.0, 0.61 * chance.gauss(1, 0.03)) if busy else 0.0,
        sm_active=busy * 0.2,
        tensor_active=busy * 0.05,
        dram_active=busy * 0.1,
        memory_used_bytes=(4 if busy else 1) * GIB,
        memory_total_bytes=141 * GIB,
        pcie_rx_bytes_per_s=rate * 3200 * chance.gauss(1, 0.05),
        pcie_tx_bytes_per_s=3e6 * abs(chance.gauss(1, 0.2)),
        pcie_link_bytes_per_s=5.5e10,
        pcie_generation=5,
        pcie_width=16,
        sm_clock_mhz=1980 if busy else 345,
        sm_clock_max_mhz=1980,
        power_w=140 * chance.gauss(1, 0.02) + 300 * busy,
        power_limit_w=700.0,
        temperature_c=38 + round(20 * busy),
        throttle=["sw_power_cap"] if busy > 0.9 else [],
        throttled_s={"sw_power_cap": 12.5} if busy > 0.9 else {},
    )


def _profile(ms: float, busy: float) -> Profile:
    parts = {"matmul": 0.5, "elementwise": 0.2, "optimizer": 0.2, "copy": 0.1}
    work = {name: KindOfWork(ms=share * ms * busy, count=6.0) for name, share in parts.items()}
    return Profile(steps=5, step_ms=ms, work_ms=ms * busy, launches=33.0, work=work, copy_ms=0.1 * ms * busy)


def _effect(t: float, change: int, name: str, predicted: float | None, speed: float) -> Effect:
    gain = GAINS[name]
    before, after = 180_000 * speed, 180_000 * speed * gain
    return Effect(
        t=t,
        change=change,
        before=Rate(samples_per_s=before, q25=before * 0.99, q75=before * 1.01, samples=40),
        after=Rate(samples_per_s=after, q25=after * 0.985, q75=after * 1.015, samples=30),
        ratio=gain,
        ratio_low=gain * 0.97,
        ratio_high=gain * 1.03,
        predicted_ratio=predicted,
        learnt="the launches that remain were not free" if name == "execution" else None,
    )


def _verdict(t: float, settings: Settings) -> Verdict:
    if settings.execution == "graph":
        return Verdict(
            t=t,
            bottleneck="compute-bound",
            sentence="Compute-bound, as it should be. The GPU works 93 % of the step.",
            evidence=["busy 93 %", "matmul 0.21 ms"],
            remedies=[Remedy(setting=None, to=None, predicted_ratio=None, why="a smaller network")],
        )
    return Verdict(
        t=t,
        bottleneck="launch-bound",
        sentence="Launch-bound. The host needs 0.51 ms a step to queue 33 kernels that run for 0.12 ms.",
        evidence=["busy 21 %, though the driver reports 61 % utilisation", "33 launches of 15 µs each"],
        remedies=[
            Remedy(
                setting="execution",
                to="graph",
                predicted_ratio=4.1,
                predicted_low=3.4,
                predicted_high=4.6,
                why="one launch for all kernels of a step",
            ),
            Remedy(
                setting="batch_size",
                to=256 if settings.batch_size == 128 else 512,
                predicted_ratio=1.8,
                predicted_low=1.6,
                predicted_high=1.9,
                why="more work in each launch",
                keeps_meaning=False,
            ),
        ],
        slice_ms=0.39,
        limit_ratio=4.3,
        step_ms=0.51,
        others=[
            Finding(
                bottleneck="transfer-bound",
                sentence="Transfer-bound. 0.05 ms of each step are copies that nothing hides.",
                evidence=["copies exposed for 0.05 ms"],
                remedies=[
                    Remedy(
                        setting="data_path", to="prefetch", predicted_ratio=1.1, why="copies ahead of time"
                    )
                ],
            )
        ],
    )


def summary(seconds: float) -> Summary:
    """Its end."""
    return Summary(
        ended="finished",
        error=None,
        seconds=seconds,
        steps=1_200_000,
        epochs=30,
        samples=400_000_000,
        samples_per_s=1_640_000.0,
        loss_first=2.31,
        loss_last=0.25,
        validation=FinalValidation(loss=0.3, accuracy=0.9),
        changes=len(TURNS),
        effects=4,
    )


def write_session(
    path: Path, seconds: float = 60.0, *, complete: bool = True, title: str | None = None
) -> Path:
    """Record such a session; `complete` false leaves it without its end, as a killed program does."""
    recorder = Recorder(path, header() if title is None else header(title))
    for position, entry in enumerate(entries(seconds)):
        recorder.write(position, entry)
    if complete:
        recorder.complete(summary(seconds))
    return path
