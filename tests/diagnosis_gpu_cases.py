"""Windows of trainings on a GPU, as a session would gather them; each has one thing the matter with it."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from diagnosis_parts import (
    CPU,
    CPU_CEILINGS,
    GPU_CEILINGS,
    H200,
    facts,
    figure,
    profile,
    settings,
    times,
    work,
)
from gputrain_runner.diagnosis.inputs import GpuState, Inputs, Measured
from gputrain_runner.settings import Settings
from gputrain_runner.timeline import HostLoad, Memory


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
