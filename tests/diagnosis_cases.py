"""Windows as a session would gather them, one for each bottleneck: what the diagnosis is to name is known."""

from __future__ import annotations

import diagnosis_cpu_cases as cpu
import diagnosis_gpu_cases as gpu
from gputrain_runner.diagnosis.inputs import Inputs
from gputrain_runner.diagnosis.rules import names

CASES: dict[str, tuple[Inputs, str]] = {
    "tiny network on a GPU": (gpu.on_gpu(), names.LAUNCH),
    "ResNet-50 as it should be": (gpu.busy_gpu(), names.COMPUTE),
    "slow loader on a GPU": (gpu.waiting_gpu(), names.INPUT),
    "pageable copies": (gpu.copying_gpu(), names.TRANSFER),
    "reads back in each step": (gpu.synchronising_gpu(), names.SYNC),
    "LSTM cell by cell on a GPU": (gpu.stepwise_gpu(), names.RECURRENCE),
    "small kernels": (gpu.small_kernels_gpu(), names.GRID),
    "elementwise on a GPU": (gpu.elementwise_gpu(), names.BANDWIDTH),
    "fp32 products": (gpu.idle_tensor_cores_gpu(), names.TENSOR_CORES),
    "optimizer loop on a GPU": (gpu.looping_optimizer_gpu(), names.OPTIMIZER),
    "channels first": (gpu.channels_first_gpu(), names.LAYOUT),
    "hot": (gpu.hot_gpu(), names.THROTTLED),
    "narrow link": (gpu.narrow_link_gpu(), names.LINK),
    "no better than the old card": (gpu.no_better_gpu(), names.NEW_GPU),
    "slower than the CPU": (gpu.beaten_gpu(), names.SLOWER_THAN_CPU),
    "large products on a CPU": (cpu.on_cpu(), names.COMPUTE),
    "tiny batch": (cpu.tiny_batch_cpu(), names.LAUNCH),
    "slow loader": (cpu.slow_loader_cpu(), names.INPUT),
    "one thread of two": (cpu.one_thread_cpu(), names.SINGLE_CORE),
    "too many threads": (cpu.many_threads_cpu(), names.OVERSUBSCRIBED),
    "competing process": (cpu.shared_cpu(), names.CPU_SHARED),
    "denormals": (cpu.denormal_cpu(), names.DENORMALS),
    "vanishing squares": (cpu.vanishing_squares_cpu(), names.DENORMALS),
    "slower than before": (cpu.slower_than_before_cpu(), names.DENORMALS),
    ".item() for each sample": (cpu.reading_back_cpu(), names.SYNC),
    "LSTM cell by cell": (cpu.looping_lstm_cpu(), names.RECURRENCE),
    "optimizer without foreach": (cpu.looping_optimizer_cpu(), names.OPTIMIZER),
    "elementwise on a CPU": (cpu.elementwise_cpu(), names.BANDWIDTH),
    "recompiling": (cpu.recompiling_cpu(), names.RECOMPILING),
    "noisy": (cpu.noisy_cpu(), names.NOISY),
    "our own screen": (cpu.watched_cpu(), names.OVERHEAD),
}
"""What is planted, and what is to be named first."""

BESIDE: dict[str, tuple[Inputs, str]] = {
    "others on the GPU": (gpu.crowded_gpu(), names.GPU_SHARED),
    "full GPU": (gpu.full_gpu(), names.MEMORY),
    "display driver": (gpu.display_driver_gpu(), names.DRIVER_MODEL),
    "CPU-only build": (cpu.cpu_only_build(), names.WRONG_BUILD),
    "full host": (cpu.swapping_cpu(), names.MEMORY),
}
"""What is told besides what limits the step: no figure says how much it costs."""
