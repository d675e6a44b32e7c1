"""`compiled`: model and loss compiled by torch.compile, forward and backward; the optimizer as it is.

The batch dimension is declared dynamic before the first call, so a change of batch size need not compile
anew. It still may: for a batch of one, which PyTorch always treats apart, and where a kernel is laid out
differently from some size on. The compiler's own time is counted wherever it falls.

How many processes compile for a GPU is PyTorch's choice (TORCHINDUCTOR_COMPILE_THREADS); they are in the
worker's process group, read from a pipe of its and end with it.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch._dynamo
import torch._dynamo.config
from torch import Tensor, nn

from ...settings import Settings
from ..losses import LossFunction
from ..phases import PhaseClock
from .compile_errors import explain, out_of_memory
from .compile_watch import CompileWatch
from .eager import EagerExecution
from .interface import ExecutionError, Parts

BACKEND = "inductor"
"""What torch.compile compiles with."""
MOST_VARIANTS = 64
"""Of one function, before PyTorch gives up without a word and runs it eagerly; its default is 8."""


class CompiledExecution(EagerExecution):
    """Plain PyTorch, but for model and loss, which run as compiled.

    The model itself stays as it is: validation runs it uncompiled.
    """

    PREPARED = "compiled"

    def __init__(self, parts: Parts, settings: Settings) -> None:
        super().__init__(parts, settings)
        _allow_variants()
        self._watch = CompileWatch()
        self._compiled: Callable[[Tensor, Tensor], Tensor] | None = _compiled(parts.model, parts.measure_loss)

    def run(self, inputs: Tensor, targets: Tensor, clock: PhaseClock) -> Tensor:
        """One step; ExecutionError where it cannot be compiled."""
        try:
            return super().run(inputs, targets, clock)
        except Exception as error:
            lack = out_of_memory(error)
            if lack is not None:
                raise lack from None
            reason = explain(error)
            if reason is None:
                raise
            raise ExecutionError(reason) from None

    def preparation_ms(self) -> float | None:
        """Time the compiler took since this was last asked."""
        return self._watch.take()

    def close(self) -> None:
        """Let go of everything compiled."""
        self._watch.close()
        self._compiled = None
        torch._dynamo.reset()

    def _measure(self, inputs: Tensor, targets: Tensor) -> Tensor:
        assert self._compiled is not None, "it is closed"
        torch._dynamo.maybe_mark_dynamic(inputs, 0)
        torch._dynamo.maybe_mark_dynamic(targets, 0)
        return self._compiled(inputs, targets)


def _compiled(model: nn.Module, measure_loss: LossFunction) -> Callable[[Tensor, Tensor], Tensor]:
    def measure(inputs: Tensor, targets: Tensor) -> Tensor:
        return measure_loss(model(inputs), targets)

    compiled: Callable[[Tensor, Tensor], Tensor] = torch.compile(measure, backend=BACKEND)
    return compiled


def _allow_variants() -> None:
    config = torch._dynamo.config
    name = "recompile_limit" if hasattr(config, "recompile_limit") else "cache_size_limit"
    setattr(config, name, max(MOST_VARIANTS, getattr(config, name)))
