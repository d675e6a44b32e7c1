"""Memory formats: how the numbers of (batch, channels, height, width) lie in memory."""

from __future__ import annotations

import torch
from torch import nn, optim

MEMORY_FORMATS = {"channels_first": torch.contiguous_format, "channels_last": torch.channels_last}
"""By their names as a setting."""

_IMAGE_DIMENSIONS = 4


def set_memory_format(model: nn.Module, optimizer: optim.Optimizer, name: str) -> None:
    """Lay the model's four-dimensional weights in that format, and what the optimizer keeps of them.

    An optimizer's update of many tensors in one call needs them to lie alike.
    """
    layout = MEMORY_FORMATS[name]
    model.to(memory_format=layout)  # type: ignore[call-overload]
    for state in optimizer.state.values():
        for key, value in state.items():
            if isinstance(value, torch.Tensor) and value.dim() == _IMAGE_DIMENSIONS:
                state[key] = value.contiguous(memory_format=layout)
