"""Windows of trainings on a CPU, as a session would gather them; each has one thing the matter with it."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from diagnosis_parts import CPU, CPU_CEILINGS, facts, profile, settings, times, work
from gputrain_runner.diagnosis.inputs import Inputs, Workload
from gputrain_runner.settings import Settings
from gputrain_runner.timeline import HostLoad


def on_cpu(name: str = "lasagne-mlp", **values: Any) -> Inputs:
    """Large products on both cores: as it should be."""
    chosen = {key: values.pop(key) for key in list(values) if key in Settings.__struct_fields__}
    host = {"data": 1.0, "h2d": 0.0, "forward": 100.0, "backward": 200.0, "optimizer": 8.0, "other": 0.1}
    kinds = work(
        matmul=(285.0, 11), elementwise=(8.0, 14), reduction=(2.0, 3), optimizer=(8.0, 26), copy=(1.0, 4)
    )
    defaults: dict[str, Any] = {
        "settings": settings(
            name,
            "cpu",
            **{"model_size": "x16" if name == "lasagne-mlp" else None, "batch_size": 2048, **chosen},
        )
        if name == "lasagne-mlp"
        else settings(name, "cpu", **chosen),
        "step": times(host, flops_per_s=90e9),
        "profile": profile(309.0, 304.0, kinds),
        "ceilings": CPU_CEILINGS,
        "all_ceilings": {"cpu": CPU_CEILINGS},
        "devices": [CPU],
        "host": HostLoad(
            worker_cpu_utilisation=1.95, others_cpu_utilisation=0.03, screen_cpu_utilisation=0.02
        ),
        "cores": 2,
        "torch": "2.13.0",
        **facts(name),
    }
    return Inputs(**{**defaults, **values})


def tiny_batch_cpu(**values: Any) -> Inputs:
    """Batches of 32: the step is Python and dispatch."""
    host = {"data": 0.015, "h2d": 0.0, "forward": 0.125, "backward": 0.17, "optimizer": 0.06, "other": 0.01}
    kinds = work(
        matmul=(0.07, 11), elementwise=(0.035, 17), optimizer=(0.03, 40), reduction=(0.02, 9), copy=(0.016, 7)
    )
    defaults: dict[str, Any] = {
        "batch_size": 32,
        "model_size": "x1",
        "threads": 1,
        "step": times(host, flops_per_s=8e9, samples_per_s=84_000.0),
        "profile": profile(0.38, 0.171, kinds),
        "host": HostLoad(
            worker_cpu_utilisation=1.0, others_cpu_utilisation=0.05, screen_cpu_utilisation=0.02
        ),
    }
    return on_cpu(**{**defaults, **values})


def slow_loader_cpu() -> Inputs:
    host = {"data": 20.0, "h2d": 0.0, "forward": 2.0, "backward": 3.0, "optimizer": 0.5, "other": 0.05}
    kinds = work(matmul=(3.5, 11), elementwise=(0.8, 14), optimizer=(0.3, 26), copy=(0.2, 4))
    return on_cpu(
        model_size="x2",
        batch_size=1024,
        data_path="loader",
        workers=1,
        step=times(host, flops_per_s=10e9),
        profile=profile(25.55, 4.8, kinds),
        host=HostLoad(worker_cpu_utilisation=0.6, others_cpu_utilisation=0.03),
    )


def one_thread_cpu() -> Inputs:
    host = HostLoad(worker_cpu_utilisation=1.0, others_cpu_utilisation=0.03, screen_cpu_utilisation=0.02)
    return on_cpu(
        threads=1,
        host=host,
        step=times({"forward": 200.0, "backward": 380.0, "optimizer": 9.0}, flops_per_s=48e9),
    )


def many_threads_cpu() -> Inputs:
    return on_cpu(
        threads=8, step=times({"forward": 170.0, "backward": 330.0, "optimizer": 14.0}, flops_per_s=53e9)
    )


def shared_cpu() -> Inputs:
    host = HostLoad(worker_cpu_utilisation=1.1, others_cpu_utilisation=0.88, screen_cpu_utilisation=0.02)
    return on_cpu(
        host=host, step=times({"forward": 170.0, "backward": 330.0, "optimizer": 14.0}, flops_per_s=53e9)
    )


def denormal_cpu() -> Inputs:
    kinds = work(matmul=(4100.0, 11), elementwise=(60.0, 14), optimizer=(8.0, 26))
    return on_cpu(
        step=times(
            {"data": 1.0, "forward": 1400.0, "backward": 2800.0, "optimizer": 8.0},
            flops_per_s=6.6e9,
            steps=10,
        ),
        profile=profile(4209.0, 4168.0, kinds),
    )


def vanishing_squares_cpu() -> Inputs:
    """Adam's squares of gradients have vanished below what the processor computes fast."""
    kinds = work(matmul=(3.0, 12), elementwise=(0.5, 14), optimizer=(95.0, 150))
    host = {"data": 0.2, "h2d": 0.0, "forward": 1.5, "backward": 2.5, "optimizer": 97.0, "other": 0.1}
    return on_cpu("keras-mnist-mlp", step=times(host, flops_per_s=3e9), profile=profile(101.3, 98.5, kinds))


def slower_than_before_cpu() -> Inputs:
    kinds = work(matmul=(3.0, 12), elementwise=(40.0, 200), optimizer=(2.0, 150))
    host = {"data": 0.2, "h2d": 0.0, "forward": 20.0, "backward": 25.0, "optimizer": 2.5, "other": 0.1}
    base = on_cpu("keras-mnist-mlp", step=times(host, flops_per_s=3e9), profile=profile(47.8, 45.0, kinds))
    return structs.replace(base, fastest_ms=8.0)


def reading_back_cpu() -> Inputs:
    """A metric over each sample by `.item()`."""
    host = {"data": 0.1, "h2d": 0.0, "forward": 6.0, "backward": 1.3, "optimizer": 0.2, "other": 0.02}
    kinds = work(matmul=(1.2, 11), elementwise=(0.5, 14), optimizer=(0.1, 26), copy=(0.1, 4))
    return on_cpu(
        model_size="x1",
        batch_size=1024,
        step=times(host, flops_per_s=13e9),
        profile=profile(7.62, 1.9, kinds, sync_count=1024.0, sync_ms=1.4),
    )


def looping_lstm_cpu() -> Inputs:
    """A user's LSTM, cell by cell over 50 steps in time."""
    host = {"data": 0.1, "h2d": 0.0, "forward": 14.0, "backward": 22.0, "optimizer": 0.4, "other": 0.02}
    kinds = work(matmul=(6.0, 300), elementwise=(7.0, 1500), copy=(1.5, 200), optimizer=(0.2, 12))
    base = on_cpu(
        threads=2,
        step=times(host, flops_per_s=5e9),
        profile=profile(36.52, 14.7, kinds),
    )
    own = Workload(family="file", own_code=True, sequence_steps=50, optimizer="Adam")
    return structs.replace(base, workload=own, preset=None)


def looping_optimizer_cpu() -> Inputs:
    """Adam over 200 small tensors one by one."""
    host = {"data": 0.1, "h2d": 0.0, "forward": 1.6, "backward": 2.4, "optimizer": 7.5, "other": 0.02}
    kinds = work(matmul=(1.0, 300), elementwise=(0.4, 200), optimizer=(3.4, 2200))
    own = Workload(
        family="file", own_code=True, optimizer="Adam", optimizer_way="loop", tensors=200, parameters=400_000
    )
    base = on_cpu(step=times(host, flops_per_s=3e9), profile=profile(11.62, 4.8, kinds))
    return structs.replace(base, workload=own, preset=None)


def elementwise_cpu() -> Inputs:
    kinds = work(matmul=(40.0, 11), elementwise=(220.0, 40), reduction=(30.0, 6), optimizer=(8.0, 26))
    return on_cpu(profile=profile(309.0, 300.0, kinds))


def recompiling_cpu() -> Inputs:
    return on_cpu(execution="compiled", preparations=4, preparation_ms=24_000.0)


def cpu_only_build() -> Inputs:
    return on_cpu(gpus_seen=1, torch="2.13.0+cpu")


def swapping_cpu() -> Inputs:
    host = HostLoad(
        worker_cpu_utilisation=1.9,
        others_cpu_utilisation=0.02,
        memory_used_bytes=15_800_000_000,
        memory_total_bytes=16_000_000_000,
    )
    return on_cpu(host=host)


def noisy_cpu() -> Inputs:
    host = {"data": 1.0, "forward": 100.0, "backward": 200.0, "optimizer": 8.0}
    return on_cpu(step=times(host, flops_per_s=90e9, p50_ms=220.0, p95_ms=800.0, spread=0.08))


def watched_cpu() -> Inputs:
    """The screen takes a tenth of two cores that are both busy."""
    host = HostLoad(worker_cpu_utilisation=1.78, others_cpu_utilisation=0.02, screen_cpu_utilisation=0.2)
    return on_cpu(host=host)
