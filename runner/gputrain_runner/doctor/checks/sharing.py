"""Checks of how a GPU is run and shared: its mode, its memory, other processes, MIG, virtual machines."""

from __future__ import annotations

from ..facts import Facts, GpuFacts
from ..unit import NOT_TOLD, GpuUnit, Result, note, ok, problem
from ..words import memory, plain, some

_GIB = 2**30
_BUSY = 0.05
_UNSEEN = "a process not seen from here"
"""Another container's or the host's: the driver names it by a number of that system."""


def _memory(_facts: Facts, gpu: GpuFacts) -> Result | None:
    total, used = gpu.gpu.memory_total_bytes, gpu.gpu.memory_used_bytes
    if gpu.lost:
        return None
    if total is None or used is None:
        return NOT_TOLD
    left = gpu.gpu.memory_free_bytes
    left = total - used if left is None else left
    said = f"{memory(left)} of {memory(total)} left"
    if left < 0.05 * total or left < _GIB // 2:
        return problem(
            f"{said}: hardly anything can be trained", "end what holds it; see other processes below"
        )
    if left < 0.5 * total:
        return note(f"{said}: large batches and models may not fit", "end what holds it, if it is not needed")
    return ok(said)


def _processes(_facts: Facts, gpu: GpuFacts) -> Result | None:
    others, busy = gpu.detail.processes, gpu.gpu.utilisation
    if gpu.lost:
        return None
    if others is None:
        return NOT_TOLD
    if not others:
        return ok("none")
    names = [
        f"{plain(one.name or _UNSEEN, 40)} (pid {one.pid}"
        + ("" if one.memory_bytes is None else f", {memory(one.memory_bytes)}")
        + ")"
        for one in sorted(others, key=lambda one: one.memory_bytes or 0, reverse=True)
    ]
    if busy is not None and busy < _BUSY:
        return note(f"{some(names)}; idle now")
    share = "" if busy is None else f"; the GPU is {busy:.0%} busy"
    return note(f"{some(names)}{share}", "figures measured beside others are lower and wider: end them first")


def _compute_mode(_facts: Facts, gpu: GpuFacts) -> Result | None:
    mode, back = gpu.detail.compute_mode, f"`sudo nvidia-smi -i {gpu.gpu.index} -c DEFAULT`"
    if gpu.lost:
        return None
    if mode is None:
        return NOT_TOLD
    if mode == "prohibited":
        return problem("prohibited: no program may compute on it", back)
    if mode == "default":
        return ok("default")
    if gpu.detail.processes:
        return problem(f"{mode}, and another program has it: PyTorch cannot use it", f"end that, or {back}")
    return note(f"{mode}: one program at a time can use it", f"{back} to let several")


def _persistence(facts: Facts, gpu: GpuFacts) -> Result | None:
    on = gpu.detail.persistence
    if gpu.lost or facts.surroundings.wsl or gpu.detail.driver_model is not None:
        return None  # Windows' driver always stays loaded.
    if on is None:
        return NOT_TOLD
    if on:
        return ok("on")
    return note(
        "off: while nothing uses the GPU its driver unloads, and every start waits for it",
        "`sudo nvidia-smi -pm 1`, or run nvidia-persistenced",
    )


def _mig(_facts: Facts, gpu: GpuFacts) -> Result | None:
    if gpu.lost or not gpu.detail.mig_mode:
        return None
    if not gpu.mig_devices:
        return problem(
            "MIG is on, but there is no MIG device: CUDA cannot use this GPU",
            f"make one (`sudo nvidia-smi mig -cgi ... -C`), or `sudo nvidia-smi -i {gpu.gpu.index} -mig 0`",
        )
    ids = [f"{device.uuid or 'n/a'}" for device in gpu.mig_devices]
    return note(
        f"MIG is on, split into {len(ids)}: {some(ids, 2)}; PyTorch uses one at a time",
        "choose one by CUDA_VISIBLE_DEVICES=MIG-...",
    )


def _driver_model(_facts: Facts, gpu: GpuFacts) -> Result | None:
    model = gpu.detail.driver_model
    if model is None:
        return None
    if model == "wddm":
        return note(
            "WDDM: Windows schedules the GPU, so every kernel's start costs more",
            "batch more work into each step; a workstation card without a display can use TCC or MCDM",
        )
    return ok(model.upper())


def _virtual(_facts: Facts, gpu: GpuFacts) -> Result | None:
    kind = gpu.detail.virtualisation
    if kind in (None, "none"):
        return None
    if kind == "passthrough":
        return ok("passed through to this virtual machine, whole")
    return note("a virtual GPU: others share the card, and PCIe traffic and processes are not told")


UNITS = (
    GpuUnit("gpu_memory", "memory", _memory),
    GpuUnit("processes", "other processes", _processes),
    GpuUnit("compute_mode", "compute mode", _compute_mode),
    GpuUnit("persistence", "persistence", _persistence),
    GpuUnit("mig", "MIG", _mig),
    GpuUnit("driver_model", "driver model", _driver_model),
    GpuUnit("virtual", "virtual GPU", _virtual),
)
