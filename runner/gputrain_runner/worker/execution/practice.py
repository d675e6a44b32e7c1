"""Steps that leave no trace: what a step changes is kept aside and put back where it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from .interface import Parts


@contextmanager
def practice(parts: Parts, device: torch.device) -> Iterator[None]:
    """Steps run inside change nothing: weights, statistics, optimizer and random states are put back.

    The numbers are put back in place, so that whatever refers to a tensor refers to the right one. They
    are kept on the host: on the device they might not fit beside what is practised. The optimizer must
    have all its state already; gradients are none afterwards.
    """
    tensors = _tensors(parts)
    kept = [tensor.detach().to("cpu", copy=True) for tensor in tensors]
    host_rng = torch.get_rng_state()
    device_rng = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    try:
        yield
    finally:
        parts.optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for tensor, before in zip(tensors, kept, strict=True):
                tensor.copy_(before)
        torch.set_rng_state(host_rng)
        if device_rng is not None:
            torch.cuda.set_rng_state(device_rng, device)


def _tensors(parts: Parts) -> list[Tensor]:
    states = parts.optimizer.state.values()
    kept = [value for state in states for value in state.values() if isinstance(value, Tensor)]
    return [*parts.model.parameters(), *parts.model.buffers(), *kept]
