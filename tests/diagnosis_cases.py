"""Windows as a session would gather them, one for each bottleneck: what the diagnosis is to name is known."""

from __future__ import annotations

from typing import Any

from msgspec import structs

import gputrain_presets
from gputrain_runner.ceilings import Ceilings, Figure
from gputrain_runner.diagnosis.inputs import GpuState, Inputs, Measured, StepTimes, Workload
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.diagnosis.workload import workload
from gputrain_runner.settings import Settings, initial
from gputrain_runner.timeline import Device, HostLoad, KindOfWork, Memory, Profile

H200 = Device(
    device="cuda:0", name="NVIDIA H200", uuid="GPU-1", memory_bytes=141_000_000_000, compute_capability="9.0"
)
CPU = Device(device="cpu", name="a CPU")


def figure(value: float) -> Figure:
    return Figure(median=value, q25=value * 0.98, q75=value * 1.02, repeats=9)


GPU_CEILINGS = Ceilings(
    device="cuda:0",
    measured_at="2026-11-30T10:00:00Z",
    matmul_flops_per_s={"fp32": figure(50e12), "tf32": figure(350e12), "bf16": figure(700e12)},
    memory_bytes_per_s=figure(4e12),
    h2d_pinned_bytes_per_s=figure(50e9),
    h2d_pageable_bytes_per_s=figure(8e9),
    launch_us=figure(6.0),
    graph_launch_us=figure(1.6),
)
CPU_CEILINGS = Ceilings(
    device="cpu",
    measured_at="2026-11-30T10:00:00Z",
    matmul_flops_per_s={"fp32": figure(100e9), "bf16": figure(110e9)},
    matmul_threads_flops_per_s={"1": figure(52e9), "2": figure(100e9)},
    memory_bytes_per_s=figure(16e9),
    launch_us=figure(1.8),
)


def work(**kinds: tuple[float, float]) -> dict[str, KindOfWork]:
    """Kinds of work by name: ms and count a step."""
    return {name: KindOfWork(ms=took_ms, count=count) for name, (took_ms, count) in kinds.items()}


def profile(step_ms: float, work_ms: float, kinds: dict[str, KindOfWork], **more: Any) -> Profile:
    launches = sum(kind.count for kind in kinds.values())
    return Profile(
        steps=5,
        step_ms=step_ms,
        work_ms=work_ms,
        **{"launches": launches, "work": kinds, "sync_count": 0.0, **more},
    )


def times(host_ms: dict[str, float], device_ms: dict[str, float] | None = None, **more: Any) -> StepTimes:
    """Steps whose phases sum to the step."""
    step_ms = sum(host_ms.values())
    defaults: dict[str, Any] = {
        "p50_ms": step_ms,
        "p95_ms": 1.1 * step_ms,
        "spread": 0.02,
        "samples_per_s": 1024 / step_ms * 1e3,
        "seconds": 10.0,
        "steps": 400,
    }
    return StepTimes(step_ms=step_ms, host_ms=host_ms, device_ms=device_ms or {}, **{**defaults, **more})


def facts(name: str) -> dict[str, Any]:
    preset = gputrain_presets.load(name)
    return {"preset": preset, "workload": workload(preset, preset.model.default_size)}


def settings(name: str, device: str, **values: Any) -> Settings:
    return structs.replace(initial(gputrain_presets.load(name), device), **{"threads": 2, **values})


# ------------------------------------------------------------------------------ on a GPU


def on_gpu(name: str = "lasagne-mlp", **values: Any) -> Inputs:
    """A tiny network on a large GPU: 33 launches, the device's spans fill the step, its kernels do not."""
    chosen = {key: values.pop(key) for key in list(values) if key in Settings.__struct_fields__}
    host = {"data": 0.005, "h2d": 0.003, "forward": 0.19, "backward": 0.22, "optimizer": 0.11, "other": 0.01}
    spans = {"forward": 0.19, "backward": 0.22, "optimizer": 0.11}
    kinds = work(matmul=(0.05, 11), elementwise=(0.04, 14), reduction=(0.01, 3), optimizer=(0.02, 5))
    defaults: dict[str, Any] = {
        "settings": settings(name, "cuda:0", **{"data_path": "resident", **chosen}),
        "step": times(host, spans, dispatch_ms=0.52, flops_per_s=1.8e11),
        "profile": profile(0.538, 0.12, kinds, copy_ms=0.0, copy_exposed_ms=0.0, tensor_core_ms=0.0),
        "ceilings": GPU_CEILINGS,
        "all_ceilings": {"cuda:0": GPU_CEILINGS, "cpu": CPU_CEILINGS},
        "devices": [H200, CPU],
        "gpu": gpu(),
        "gpus_seen": 1,
        "host": HostLoad(
            worker_cpu_utilisation=1.0, others_cpu_utilisation=0.05, screen_cpu_utilisation=0.01
        ),
        "memory": Memory(allocated_bytes=10**8, reserved_bytes=2 * 10**8, peak_allocated_bytes=10**8),
        "cores": 16,
        "torch": "2.13.0",
        "cuda": "13.0",
        **facts(name),
    }
    return Inputs(**{**defaults, **values})


def gpu(**values: Any) -> GpuState:
    defaults: dict[str, Any] = {
        "name": "NVIDIA H200",
        "utilisation": 0.61,
        "sm_active": 0.04,
        "sm_clock_mhz": 1980,
        "sm_clock_max_mhz": 1980,
        "temperature_c": 45,
        "power_w": 300.0,
        "power_limit_w": 700.0,
        "memory_used_bytes": 2e9,
        "memory_total_bytes": 141e9,
        "pcie_generation": 5,
        "pcie_width": 16,
        "pcie_generation_max": 5,
        "pcie_width_max": 16,
    }
    return GpuState(**{**defaults, **values})


def busy_gpu(**values: Any) -> Inputs:
    """ResNet-50, bf16, batch 256, channels last: as it should be."""
    host = {"data": 0.02, "h2d": 0.01, "forward": 15.0, "backward": 20.0, "optimizer": 60.0, "other": 0.5}
    spans = {"forward": 30.0, "backward": 62.0, "optimizer": 2.0}
    kinds = work(
        convolution=(54.0, 160),
        normalisation=(20.0, 106),
        elementwise=(14.0, 120),
        reduction=(1.0, 4),
        optimizer=(1.5, 10),
    )
    defaults: dict[str, Any] = {
        "precision": "bf16",
        "batch_size": 256,
        "memory_format": "channels_last",
        "step": times(host, spans, dispatch_ms=95.0, flops_per_s=6.5e13, samples_per_s=2680.0),
        "profile": profile(95.53, 92.0, kinds, copy_ms=0.0, copy_exposed_ms=0.0, tensor_core_ms=54.0),
        "gpu": gpu(utilisation=1.0, sm_active=0.93, tensor_active=0.35, dram_active=0.45),
        "memory": Memory(
            allocated_bytes=9 * 10**9, reserved_bytes=3 * 10**10, peak_allocated_bytes=26 * 10**9
        ),
    }
    return on_gpu("resnet", **{**defaults, **values})


def waiting_gpu(**values: Any) -> Inputs:
    """A loader that cannot keep up."""
    host = {"data": 4.0, "h2d": 0.1, "forward": 0.5, "backward": 0.6, "optimizer": 0.3, "other": 0.02}
    kinds = work(matmul=(0.4, 13), elementwise=(0.3, 18), optimizer=(0.1, 5), copy=(0.06, 2))
    return on_gpu(
        "keras-mnist-mlp",
        data_path="loader",
        step=times(host, {"forward": 0.5, "backward": 0.6, "optimizer": 0.3}, dispatch_ms=1.4),
        profile=profile(
            5.52, 0.86, kinds, copy_ms=0.06, copy_exposed_ms=0.05, copy_bytes=402_432.0, tensor_core_ms=0.0
        ),
        **values,
    )


def copying_gpu(**values: Any) -> Inputs:
    """Large images copied from pageable memory, little computed."""
    host = {"data": 2.0, "h2d": 19.0, "forward": 3.0, "backward": 4.0, "optimizer": 1.0, "other": 0.1}
    kinds = work(convolution=(6.0, 16), elementwise=(1.5, 20), optimizer=(0.5, 5), copy=(18.5, 2))
    return on_gpu(
        "alexnet",
        data_path="host",
        memory_format="channels_last",
        precision="bf16",
        step=times(host, {"h2d": 18.6, "forward": 3.0, "backward": 4.5}, dispatch_ms=8.0),
        profile=profile(
            29.1, 26.0, kinds, copy_ms=18.5, copy_exposed_ms=18.3, copy_bytes=77e6, tensor_core_ms=5.0
        ),
        gpu=gpu(sm_active=0.3),
        **values,
    )


def synchronising_gpu() -> Inputs:
    """Host and GPU take turns: the host reads a value back in each step."""
    host = {"data": 0.01, "h2d": 0.01, "forward": 7.5, "backward": 1.5, "optimizer": 0.9, "other": 0.1}
    kinds = work(matmul=(5.0, 40), elementwise=(1.0, 60), optimizer=(0.4, 5))
    return on_gpu(
        step=times(host, {"forward": 5.0, "backward": 4.0, "optimizer": 0.5}, dispatch_ms=9.9),
        profile=profile(
            10.02, 6.4, kinds, sync_count=3.0, sync_ms=6.0, copy_exposed_ms=0.0, tensor_core_ms=4.0
        ),
        precision="bf16",
    )


def stepwise_gpu() -> Inputs:
    """A Bi-LSTM cell by cell: thousands of kernels."""
    host = {"data": 0.05, "h2d": 0.02, "forward": 40.0, "backward": 60.0, "optimizer": 1.0, "other": 0.1}
    kinds = work(matmul=(12.0, 1700), elementwise=(10.0, 6000), copy=(3.0, 700), optimizer=(0.3, 10))
    return on_gpu(
        "hier-bilstm",
        recurrence="stepwise",
        step=times(host, {"forward": 40.0, "backward": 60.0, "optimizer": 1.0}, dispatch_ms=101.0),
        profile=profile(101.17, 25.3, kinds, copy_exposed_ms=0.0, tensor_core_ms=0.0),
    )


def small_kernels_gpu() -> Inputs:
    """Kernels without gaps that fill a fifth of the card."""
    kinds = work(recurrence=(20.0, 40), elementwise=(2.0, 30), optimizer=(0.5, 10))
    host = {"data": 0.02, "h2d": 0.01, "forward": 2.0, "backward": 2.0, "optimizer": 21.0, "other": 0.1}
    return on_gpu(
        "hier-bilstm",
        step=times(host, {"forward": 9.0, "backward": 14.0, "optimizer": 0.6}, dispatch_ms=24.0),
        profile=profile(25.13, 22.5, kinds, copy_exposed_ms=0.0, tensor_core_ms=18.0),
        gpu=gpu(utilisation=0.98, sm_active=0.2),
    )


def elementwise_gpu() -> Inputs:
    """Reads and writes memory, mostly."""
    kinds = work(
        elementwise=(40.0, 60), normalisation=(30.0, 40), convolution=(12.0, 50), optimizer=(1.0, 10)
    )
    return busy_gpu(
        step=times(
            {"forward": 30.0, "backward": 55.0, "other": 0.5},
            {"forward": 28.0, "backward": 56.0},
            dispatch_ms=85.0,
        ),
        profile=profile(85.5, 83.0, kinds, copy_exposed_ms=0.0, tensor_core_ms=12.0),
        gpu=gpu(utilisation=1.0, sm_active=0.9, tensor_active=0.1, dram_active=0.75),
    )


def idle_tensor_cores_gpu() -> Inputs:
    """Large products in fp32."""
    kinds = work(matmul=(80.0, 30), elementwise=(6.0, 40), optimizer=(2.0, 5))
    return on_gpu(
        model_size="x16",
        batch_size=65536,
        step=times(
            {"forward": 30.0, "backward": 60.0, "other": 0.5},
            {"forward": 29.0, "backward": 59.0},
            dispatch_ms=90.0,
        ),
        profile=profile(90.5, 88.0, kinds, copy_exposed_ms=0.0, tensor_core_ms=0.0),
        gpu=gpu(utilisation=1.0, sm_active=0.95),
    )


def looping_optimizer_gpu() -> Inputs:
    """A user's optimizer that goes through many tensors one by one."""
    kinds = work(convolution=(8.0, 300), elementwise=(3.0, 300), optimizer=(2.5, 4000))
    base = on_gpu(
        "resnet",
        precision="bf16",
        memory_format="channels_last",
        step=times(
            {"data": 0.02, "forward": 5.0, "backward": 6.0, "optimizer": 29.0, "other": 0.1},
            {"forward": 5.0, "backward": 7.0, "optimizer": 28.0},
            dispatch_ms=40.0,
        ),
        profile=profile(40.12, 13.5, kinds, copy_exposed_ms=0.0, tensor_core_ms=8.0),
    )
    assert base.workload is not None
    return structs.replace(base, workload=structs.replace(base.workload, optimizer_way="loop"))


def channels_first_gpu() -> Inputs:
    return busy_gpu(memory_format="channels_first")


def hot_gpu() -> Inputs:
    hot = gpu(
        utilisation=1.0, sm_active=0.93, sm_clock_mhz=1200, throttle=["sw_thermal_slowdown"], temperature_c=88
    )
    return busy_gpu(gpu=hot)


def narrow_link_gpu() -> Inputs:
    base = copying_gpu()
    return structs.replace(base, gpu=gpu(sm_active=0.3, pcie_width=2, pcie_rx_bytes_per_s=2.6e9))


def crowded_gpu() -> Inputs:
    return busy_gpu(gpu=gpu(utilisation=1.0, sm_active=0.9, others_memory_bytes=30e9, others=["python"]))


def full_gpu() -> Inputs:
    return busy_gpu(gpu=gpu(utilisation=1.0, sm_active=0.93, memory_used_bytes=138e9))


def display_driver_gpu() -> Inputs:
    """A tiny network under Windows' display driver model."""
    return on_gpu(gpu=gpu(driver_model="wddm"))


def no_better_gpu() -> Inputs:
    """The tiny network was measured on an older card before, with slower products."""
    old = structs.replace(
        GPU_CEILINGS, device="cuda:1", matmul_flops_per_s={"fp32": figure(10e12)}, launch_us=figure(6.0)
    )
    base = on_gpu()
    before = Measured(
        settings=structs.replace(base.settings, device="cuda:1"), step_ms=0.53, samples_per_s=1.93e6
    )
    return structs.replace(base, measured=[before], all_ceilings={"cuda:0": GPU_CEILINGS, "cuda:1": old})


def beaten_gpu() -> Inputs:
    """A step so small that the CPU, tried before at two batch sizes as the GPU was, is faster."""
    base = on_gpu(batch_size=32)
    tried = [("cpu", 32, 0.45), ("cpu", 1024, 2.3), ("cuda:0", 1024, 0.55)]
    measured = [
        Measured(
            settings=structs.replace(base.settings, device=device, batch_size=size),
            step_ms=step_ms,
            samples_per_s=size / step_ms * 1e3,
        )
        for device, size, step_ms in tried
    ]
    return structs.replace(base, measured=measured)


# ------------------------------------------------------------------------------ on a CPU


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


CASES: dict[str, tuple[Inputs, str]] = {
    "tiny network on a GPU": (on_gpu(), names.LAUNCH),
    "ResNet-50 as it should be": (busy_gpu(), names.COMPUTE),
    "slow loader on a GPU": (waiting_gpu(), names.INPUT),
    "pageable copies": (copying_gpu(), names.TRANSFER),
    "reads back in each step": (synchronising_gpu(), names.SYNC),
    "LSTM cell by cell on a GPU": (stepwise_gpu(), names.RECURRENCE),
    "small kernels": (small_kernels_gpu(), names.GRID),
    "elementwise on a GPU": (elementwise_gpu(), names.BANDWIDTH),
    "fp32 products": (idle_tensor_cores_gpu(), names.TENSOR_CORES),
    "optimizer loop on a GPU": (looping_optimizer_gpu(), names.OPTIMIZER),
    "channels first": (channels_first_gpu(), names.LAYOUT),
    "hot": (hot_gpu(), names.THROTTLED),
    "narrow link": (narrow_link_gpu(), names.LINK),
    "no better than the old card": (no_better_gpu(), names.NEW_GPU),
    "slower than the CPU": (beaten_gpu(), names.SLOWER_THAN_CPU),
    "large products on a CPU": (on_cpu(), names.COMPUTE),
    "tiny batch": (tiny_batch_cpu(), names.LAUNCH),
    "slow loader": (slow_loader_cpu(), names.INPUT),
    "one thread of two": (one_thread_cpu(), names.SINGLE_CORE),
    "too many threads": (many_threads_cpu(), names.OVERSUBSCRIBED),
    "competing process": (shared_cpu(), names.CPU_SHARED),
    "denormals": (denormal_cpu(), names.DENORMALS),
    "vanishing squares": (vanishing_squares_cpu(), names.DENORMALS),
    "slower than before": (slower_than_before_cpu(), names.DENORMALS),
    ".item() for each sample": (reading_back_cpu(), names.SYNC),
    "LSTM cell by cell": (looping_lstm_cpu(), names.RECURRENCE),
    "optimizer without foreach": (looping_optimizer_cpu(), names.OPTIMIZER),
    "elementwise on a CPU": (elementwise_cpu(), names.BANDWIDTH),
    "recompiling": (recompiling_cpu(), names.RECOMPILING),
    "noisy": (noisy_cpu(), names.NOISY),
    "our own screen": (watched_cpu(), names.OVERHEAD),
}
"""What is planted, and what is to be named first."""

BESIDE: dict[str, tuple[Inputs, str]] = {
    "others on the GPU": (crowded_gpu(), names.GPU_SHARED),
    "full GPU": (full_gpu(), names.MEMORY),
    "display driver": (display_driver_gpu(), names.DRIVER_MODEL),
    "CPU-only build": (cpu_only_build(), names.WRONG_BUILD),
    "full host": (swapping_cpu(), names.MEMORY),
}
"""What is told besides what limits the step: no figure says how much it costs."""
