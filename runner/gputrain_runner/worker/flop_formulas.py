"""FLOPs of fused recurrent layers, which PyTorch's FLOP counter has no formulas for.

As its own formulas do, they count matrix products alone: each step's inputs and outputs times the
weights of all gates; backward, the gradients of both factors of each product, but of a first state
or of inputs only where they are asked for. Every step of the padded shape counts, for every step is
computed. So a layer counts as the same layer unrolled into single products does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry, register_flop_formula

Shape = Sequence[int]

_GATES = {0: 1, 1: 1, 2: 4, 3: 3}
"""Gates by PyTorch's number of the kind: ReLU, tanh, LSTM, GRU."""


def register() -> None:
    """Give PyTorch's counter the formulas, once."""
    for operation, formula in _FORMULAS.items():
        if operation not in flop_registry:
            register_flop_formula(operation)(formula)


def _layers(inputs: Shape, kind: int, hidden: int, layers: int, directions: int, projected: int) -> int:
    """Forward FLOPs of `layers` layers over `inputs` (..., features); packed or padded, any order."""
    steps, width = prod(inputs[:-1]), inputs[-1]
    output = projected or hidden
    flops = 0
    for _ in range(layers):
        flops += 2 * steps * directions * _GATES[kind] * hidden * (width + output)
        flops += 2 * steps * directions * hidden * projected
        width = output * directions
    return flops


def _times_weights(factor: Shape, kind: int, hidden: int) -> int:
    """FLOPs of the product of `factor` with one layer's and direction's weights for all gates."""
    return 2 * prod(factor) * _GATES[kind] * hidden


def _cudnn(
    inputs: Shape,
    weights: object,
    weight_stride: int,
    weight_buffer: object,
    hx: Shape,
    cx: object,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    *_: Any,
    **__: Any,
) -> int:
    return _layers(inputs, mode, hidden_size, num_layers, 2 if bidirectional else 1, proj_size)


def _cudnn_backward(
    inputs: Shape,
    weights: object,
    weight_stride: int,
    weight_buffer: object,
    hx: Shape,
    cx: object,
    output: Shape,
    grad_output: object,
    grad_hy: object,
    grad_cy: object,
    mode: int,
    hidden_size: int,
    proj_size: int,
    num_layers: int,
    batch_first: bool,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_sizes: object,
    dropout_state: object,
    reserve: object,
    output_mask: Sequence[bool],
    **_: Any,
) -> int:
    directions = 2 if bidirectional else 1
    flops = 2 * _layers(inputs, mode, hidden_size, num_layers, directions, proj_size)
    if not output_mask[0]:
        flops -= directions * _times_weights(inputs, mode, hidden_size)
    if not output_mask[1]:
        flops -= _times_weights(hx, mode, hidden_size)
    return flops


def _onednn(
    inputs: Shape,
    weight_0: object,
    weight_1: object,
    weight_2: object,
    weight_3: object,
    hx: object,
    cx: object,
    reverse: bool,
    batch_sizes: object,
    mode: int,
    hidden_size: int,
    *_: Any,
    **__: Any,
) -> int:
    return _layers(inputs, mode, hidden_size, layers=1, directions=1, projected=0)


def _onednn_backward(
    inputs: Shape,
    weight_0: object,
    weight_1: object,
    weight_2: object,
    weight_3: object,
    hx: Shape,
    cx: object,
    output: object,
    hy: object,
    cy: object,
    grad_output: object,
    grad_hy: object,
    grad_cy: object,
    reverse: bool,
    mode: int,
    hidden_size: int,
    *_: Any,
    **__: Any,
) -> int:
    # It cannot be told what is asked for: inputs nearly always are, a first state hardly ever is.
    flops = 2 * _layers(inputs, mode, hidden_size, layers=1, directions=1, projected=0)
    return flops - _times_weights(hx, mode, hidden_size)


_FORMULAS: dict[Any, Callable[..., int]] = {
    torch.ops.aten._cudnn_rnn: _cudnn,
    torch.ops.aten._cudnn_rnn_backward: _cudnn_backward,
    torch.ops.aten.mkldnn_rnn_layer: _onednn,
    torch.ops.aten.mkldnn_rnn_layer_backward: _onednn_backward,
}
