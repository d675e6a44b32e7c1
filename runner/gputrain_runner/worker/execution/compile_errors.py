"""What torch.compile says when it cannot, in one line that tells what to do."""

from __future__ import annotations

import re

import torch

_COMPILER = ("torch._dynamo.", "torch._inductor.", "torch._functorch.", "triton.")
"""Modules whose exceptions are about compiling, not about what is compiled."""


def explain(error: BaseException) -> str | None:
    """Why a step cannot be compiled; None where the error is about something else."""
    if not any(f"{of.__module__}.".startswith(_COMPILER) for of in type(error).__mro__):
        return None
    inner = getattr(error, "inner_exception", None)
    cause = inner if isinstance(inner, BaseException) else error
    return f"execution compiled: {_reason(cause)}"


def out_of_memory(error: BaseException) -> torch.OutOfMemoryError | None:
    """The lack of memory that the compiler ran into and wrapped; None where it was something else."""
    inner = getattr(error, "inner_exception", None)
    return inner if isinstance(inner, torch.OutOfMemoryError) else None


def _reason(cause: BaseException) -> str:
    text = str(cause)
    if "No working C++ compiler" in text or type(cause).__name__ == "InvalidCxxCompiler":
        return "needs a C++ compiler and finds none: install g++, or name yours in CXX"
    if "Failed to find C compiler" in text:
        return "needs a C compiler and finds none: install gcc, or name yours in CC"
    if "Python.h" in text:
        return "needs Python's headers, Python.h: install python3-dev or what your system calls it"
    if "working triton installation" in text:
        return "needs Triton for this GPU and finds none: pip install triton"
    failed = re.search(r"^.*\berror: .*$", text, re.MULTILINE)
    if failed:
        return f"the C++ compiler failed: {failed[0].strip()}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(cause).__name__}: {lines[0]}" if lines else type(cause).__name__
