"""Executions: the ways in which one step runs on the device.

An execution is a file here with an `Execution`, and its line in `_EXECUTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable

from ...settings import Settings
from .eager import EagerExecution
from .interface import Execution, ExecutionError, Parts
from .memory_format import set_memory_format
from .step_counters import count_on_host

__all__ = ["Execution", "ExecutionError", "Parts", "build", "count_on_host", "set_memory_format"]


def _compiled(parts: Parts, settings: Settings) -> Execution:
    from .compiled import CompiledExecution  # Imports PyTorch's compiler, which takes a second.

    return CompiledExecution(parts, settings)


def _graph(parts: Parts, settings: Settings) -> Execution:
    from .graph import GraphExecution

    return GraphExecution(parts, settings)


_EXECUTIONS: dict[str, Callable[[Parts, Settings], Execution]] = {
    "eager": EagerExecution,
    "compiled": _compiled,
    "graph": _graph,
}


def build(parts: Parts, settings: Settings) -> Execution:
    """The execution for `settings.execution`, in its precision and passes.

    ExecutionError, here or in the first step, says in one line why it cannot run.
    """
    return _EXECUTIONS[settings.execution](parts, settings)
