"""Every rule in one table: a rule is added by writing it and entering it here."""

from __future__ import annotations

from . import data, denormal, device_work, host, launch, machine, names, parts, sync
from .rule import Rule

__all__ = ["BY_NAME", "RULES", "Rule", "names"]

RULES: tuple[Rule, ...] = (
    Rule(name=names.INPUT, holds=data.input_bound),
    Rule(name=names.TRANSFER, holds=data.transfer_bound),
    Rule(name=names.SYNC, holds=sync.synchronisation_bound, explains=(names.LAUNCH,)),
    Rule(name=names.RECURRENCE, holds=parts.unfused_recurrence, explains=(names.LAUNCH,)),
    Rule(name=names.LAUNCH, holds=launch.launch_bound),
    Rule(name=names.NEW_GPU, holds=launch.new_gpu_no_faster, explains=(names.LAUNCH,)),
    Rule(name=names.SLOWER_THAN_CPU, holds=launch.slower_than_cpu, explains=(names.LAUNCH,)),
    Rule(name=names.OPTIMIZER, holds=parts.optimizer_heavy, explains=(names.LAUNCH,)),
    Rule(name=names.RECOMPILING, holds=parts.recompiling),
    Rule(name=names.OVERSUBSCRIBED, holds=host.cpu_oversubscribed, explains=(names.LAUNCH, names.NOISY)),
    Rule(name=names.SINGLE_CORE, holds=host.single_core_bound),
    Rule(name=names.CPU_SHARED, holds=host.cpu_shared, explains=(names.NOISY, names.LAUNCH)),
    Rule(name=names.DENORMALS, holds=denormal.denormals, explains=(names.SINGLE_CORE, names.OPTIMIZER)),
    Rule(name=names.GRID, holds=device_work.grid_too_small),
    Rule(name=names.TENSOR_CORES, holds=device_work.tensor_cores_idle),
    Rule(name=names.LAYOUT, holds=parts.layout),
    Rule(name=names.THROTTLED, holds=machine.throttled),
    Rule(name=names.LINK, holds=machine.link_degraded, explains=(names.TRANSFER,)),
    Rule(name=names.GPU_SHARED, holds=machine.gpu_shared),
    Rule(name=names.WRONG_BUILD, holds=machine.wrong_build, foremost=True),
    Rule(name=names.MEMORY, holds=machine.memory_pressure),
    Rule(name=names.DRIVER_MODEL, holds=machine.driver_model),
    Rule(name=names.NOISY, holds=host.noisy),
    Rule(name=names.OVERHEAD, holds=host.own_overhead),
    Rule(name=names.BANDWIDTH, holds=device_work.memory_bandwidth_bound, healthy=True),
    Rule(name=names.COMPUTE, holds=device_work.compute_bound, healthy=True),
)
"""In no particular order: what a finding would save decides its rank."""

BY_NAME = {rule.name: rule for rule in RULES}
