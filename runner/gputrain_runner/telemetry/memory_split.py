"""A GPU's memory told apart: PyTorch's tensors and cache, CUDA context and workspaces, others, free."""

from __future__ import annotations

from dataclasses import dataclass

from ..hardware import Gpu
from ..timeline import Memory


@dataclass(frozen=True, slots=True)
class MemorySplit:
    """Bytes each, None where not known. Those known sum to at most the GPU's memory."""

    allocated: int | None
    """In tensors of the training."""
    cached: int | None
    """Held by PyTorch's allocator for the next tensors."""
    context: int | None
    """What else the worker has there: CUDA context, loaded kernels, library workspaces, captured graphs."""
    others: int | None
    """Other processes."""
    free: int | None
    reserved_by_driver: int | None
    rest: int | None
    """In use, but nobody can say by whom; 0 where all is told apart."""


def split(gpu: Gpu, memory: Memory | None) -> MemorySplit:
    """Tell the memory apart.

    Args:
        gpu: as the driver sees it; the same sample's as `memory`.
        memory: what PyTorch's allocator holds there; None where it does not train on this GPU.

    The driver tells memory per process less often than its sum, so a context that would come out
    negative is taken from the sum instead.
    """
    used = gpu.memory_used_bytes
    reserved = memory.reserved_bytes if memory is not None else None
    allocated = memory.allocated_bytes if memory is not None else None
    cached = None if reserved is None or allocated is None else max(0, reserved - allocated)
    others = gpu.memory_others_bytes
    context = _context(gpu, used, reserved, others)
    told = sum(part or 0 for part in (reserved if reserved is not None else allocated, context, others))
    return MemorySplit(
        allocated=allocated,
        cached=cached,
        context=context,
        others=others,
        free=_free(gpu),
        reserved_by_driver=gpu.memory_reserved_bytes,
        rest=None if used is None else max(0, used - told),
    )


def _context(gpu: Gpu, used: int | None, reserved: int | None, others: int | None) -> int | None:
    if reserved is None:
        return None
    ours = gpu.memory_ours_bytes
    if ours is not None and ours >= reserved:
        return ours - reserved
    if used is not None and others is not None and ours is not None and used - others >= reserved:
        return used - others - reserved
    return None


def _free(gpu: Gpu) -> int | None:
    if gpu.memory_free_bytes is not None:
        return gpu.memory_free_bytes
    if gpu.memory_total_bytes is None or gpu.memory_used_bytes is None:
        return None
    free = gpu.memory_total_bytes - gpu.memory_used_bytes - (gpu.memory_reserved_bytes or 0)
    return max(0, free)
