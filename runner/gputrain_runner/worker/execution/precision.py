"""Precisions: what arithmetic a step uses, and the one place that sets PyTorch's TF32 switches.

PyTorch has two interfaces to TF32, and reading one after the other was set raises. Only `allow_tf32` is
used: every supported release has it, and setting it keeps the newer `fp32_precision` in step, so that
torch.compile and a user's own code may read either. Left alone, cuDNN's convolutions and recurrent layers
would use TF32 for float32 and matrix products would not, so both are always set.

`cudnn.benchmark` stays at PyTorch's default, off, as in what most people run: trying algorithms anew at
each batch size would cost seconds after every change.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import torch

from ...settings import Settings
from ...timeline import Flags

AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
"""Precisions in which autocast chooses, operation by operation, the type to compute in."""


def autocast(settings: Settings, cache: bool = True) -> AbstractContextManager[None]:
    """The context for forward and loss; to be entered as often as one likes, not within itself.

    Args:
        settings: their precision and device.
        cache: keep a weight's cast for its next use in the same pass. Not while a graph is captured.
    """
    dtype = AUTOCAST.get(settings.precision)
    if dtype is None:
        return nullcontext()
    return torch.autocast(torch.device(settings.device).type, dtype=dtype, cache_enabled=cache)


def scaler(settings: Settings) -> torch.amp.GradScaler | None:
    """What keeps small gradients of fp16 from vanishing; None where none is needed.

    Models at once share one scale: where one of them overflows, the step is left out for all.
    """
    if settings.precision != "fp16" or settings.passes != "training":
        return None
    return torch.amp.GradScaler(torch.device(settings.device).type)


def set_flags(precision: str) -> None:
    """Let float32 matrix products, convolutions and recurrent layers be IEEE, or TF32 where asked for."""
    allow = precision == "tf32"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That there is a newer interface.
        torch.backends.cuda.matmul.allow_tf32 = allow
        torch.backends.cudnn.allow_tf32 = allow


def allow_tf32_products(allow: bool) -> None:
    """Let float32 matrix products alone use TF32, or not; within `product_switches_kept`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.backends.cuda.matmul.allow_tf32 = allow


@contextmanager
def product_switches_kept() -> Iterator[None]:
    """Whatever is inside does to the arithmetic of matrix products: afterwards it is as it was.

    That a user's own code had set the newer interface, or a mixture, is kept as well: first what the old
    interface said, then what of the newer one that did not bring back.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        allowed, precision = _read_old()
        newer = {name: products.fp32_precision for name, products in _with_newer_switch().items()}
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if allowed is not None:
                torch.backends.cuda.matmul.allow_tf32 = allowed
            if precision is not None and _read_old()[1] != precision:
                torch.set_float32_matmul_precision(precision)
            for name, products in _with_newer_switch().items():
                if products.fp32_precision != newer[name]:
                    products.fp32_precision = newer[name]


def _read_old() -> tuple[bool | None, str | None]:
    """What the old interface to products says; None what it refuses to since the newer one was set."""
    allowed, precision = None, None
    with suppress(RuntimeError):
        allowed = torch.backends.cuda.matmul.allow_tf32
    with suppress(RuntimeError):
        precision = torch.get_float32_matmul_precision()
    return allowed, precision


def _with_newer_switch() -> dict[str, Any]:
    """What has the newer interface's switch for matrix products, by name; nothing in an older PyTorch."""
    backends: Any = torch.backends
    found = {"cuda": backends.cuda.matmul, "mkldnn": getattr(backends.mkldnn, "matmul", None)}
    return {name: products for name, products in found.items() if _has_newer_switch(products)}


def _has_newer_switch(products: Any) -> bool:
    try:
        return isinstance(products.fp32_precision, str)
    except (AttributeError, AssertionError):
        return False


def flags() -> Flags:
    """PyTorch's switches that decide speed and arithmetic as they are now, by their names there."""
    return {
        **_tf32_flags(),
        "cudnn.benchmark": torch.backends.cudnn.benchmark,
        "num_threads": torch.get_num_threads(),
    }


def _tf32_flags() -> Flags:
    backends: Any = torch.backends  # Its newest attributes have no types yet.
    try:
        return {
            "cuda.matmul.allow_tf32": backends.cuda.matmul.allow_tf32,
            "cudnn.allow_tf32": backends.cudnn.allow_tf32,
        }
    except RuntimeError:  # A user's own code has set the newer interface to something between.
        return {
            "cuda.matmul.fp32_precision": backends.cuda.matmul.fp32_precision,
            "cudnn.conv.fp32_precision": backends.cudnn.conv.fp32_precision,
            "cudnn.rnn.fp32_precision": backends.cudnn.rnn.fp32_precision,
        }
