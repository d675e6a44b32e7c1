"""What one step is made of: its operations with their FLOPs and bytes, counted without training."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from gputrain_presets import Preset, PresetError
from gputrain_presets.text_models import HierBiLstmModel
from gputrain_presets.user_models import UserModel

from ..protocol import Operation, WorkCounted
from . import flop_formulas, losses, models, optimizers

flop_formulas.register()

_NO_KERNEL = ("detach", "alias", "_unsafe_view", "lift_fresh", "empty", "empty_like", "empty_strided")
"""Operations that start nothing on a device, though they are no views by their schema."""
_RECURRENT = ("mkldnn_rnn_layer", "mkldnn_rnn_layer_backward", "_cudnn_rnn", "_cudnn_rnn_backward")
_LARGEST_FOREACH = 40
"""Tensors that one multi-tensor kernel of PyTorch's takes, about: the lists of arguments are limited."""


class _Counter(TorchDispatchMode):
    """Notes every operation that would start a kernel."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[tuple[str, int, int, int]] = Counter()

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # Asking for it is what imports torch._dynamo; nothing is compiled in here.

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run one operation, without storage where its tensors have none, and note it."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func._overloadpacket.__name__
        if func.is_view or name in _NO_KERNEL:
            return out
        tensors = {id(leaf): leaf for leaf in tree_leaves((args, kwargs, out)) if isinstance(leaf, Tensor)}
        formula = flop_registry.get(func._overloadpacket)
        flops = int(formula(*args, **kwargs, out_val=out)) if formula is not None else 0
        # A number on the host beside tensors (an optimizer's count of steps) is no device's work.
        moved = sum(leaf.numel() * leaf.element_size() for leaf in tensors.values())
        if moved > 8:
            self.counts[name, flops, moved, _kernels(name, args)] += 1
        return out


def _kernels(name: str, args: tuple[Any, ...]) -> int:
    """Kernels that one call starts."""
    if name.startswith(("_foreach", "_fused")) and args and isinstance(args[0], (list, tuple)):
        return -(-len(args[0]) // _LARGEST_FOREACH)
    if name in _RECURRENT:
        # A product and a pointwise kernel for each time step of (time, batch, features).
        inputs = next(leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor) and leaf.dim() == 3)
        return 2 * int(inputs.shape[0])
    return 1


def count(preset: Preset, size: str, batch_size: int, passes: str) -> WorkCounted:
    """The operations of one step in fp32, as an eager step on a GPU would start them.

    The optimizer is counted in its multi-tensor form, which is PyTorch's choice on a GPU. Bytes are those
    of every operand and result, once each: what an operation would move with no cache at all.

    Raises:
        PresetError: the preset's model is the user's own, which cannot be run without its data.
    """
    if isinstance(preset.model, UserModel):
        raise PresetError("the steps of a model of your own cannot be counted without training it")
    # Recurrent layers without storage fall apart into single products.
    device = torch.device("cpu" if isinstance(preset.model, HierBiLstmModel) else "meta")
    with torch.random.fork_rng(devices=[]):
        counter = _Counter()
        batch_bytes = _step(preset, size, batch_size, passes, device, counter)
    operations = [
        Operation(name=name, flops=flops, moved_bytes=moved, kernels=kernels, count=times)
        for (name, flops, moved, kernels), times in counter.counts.items()
    ]
    return WorkCounted(operations=operations, batch_bytes=batch_bytes)


def _step(
    preset: Preset, size: str, batch_size: int, passes: str, device: torch.device, counter: _Counter
) -> int:
    """One step, the second, when the optimizer's state is there: counted in `counter`; its batch's bytes."""
    with torch.device(device) if device.type == "meta" else nullcontext():
        model = models.build(preset.model, size)
        inputs = models.example_inputs(preset.model, batch_size)
    training = passes == "training"
    model.train(training)
    measure = losses.build(preset.loss)
    with torch.no_grad():
        outputs = functional_call(model, dict(model.named_parameters()), (inputs,))
    targets = _targets(preset, outputs)
    optimizer = optimizers.build(preset.optimizer, model.parameters()) if training else None
    for group in optimizer.param_groups if optimizer is not None else ():
        group["foreach"] = True
    for step in range(2):
        with counter if step == 1 else nullcontext():
            _one(model, inputs, targets, measure, optimizer)
    return inputs.numel() * inputs.element_size() + targets.numel() * targets.element_size()


def _one(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    measure: losses.LossFunction,
    optimizer: torch.optim.Optimizer | None,
) -> None:
    with torch.set_grad_enabled(optimizer is not None):
        loss = measure(model(inputs), targets)
    if optimizer is not None:
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def _targets(preset: Preset, outputs: Tensor) -> Tensor:
    if losses.counts_correct(preset.loss):
        return torch.zeros(outputs.shape[0], dtype=torch.int64, device=outputs.device)
    return torch.zeros_like(outputs)
