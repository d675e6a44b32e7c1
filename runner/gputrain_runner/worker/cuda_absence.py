"""Why PyTorch can use no CUDA GPU on this machine, and what to do about it."""

from __future__ import annotations

import os

import torch


def cuda_absence() -> str | None:
    """The reason and the remedy in one line; None where there is a GPU that PyTorch can use."""
    if torch.cuda.is_available():
        return None
    if torch.version.cuda is None and torch.version.hip is None:
        where = "https://pytorch.org/get-started/locally"
        return f"PyTorch {torch.__version__} is built without CUDA: install a build with it, see {where}"
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    told = _told_by_pytorch()
    if "no NVIDIA driver" in told:
        return "there is no NVIDIA driver: install it; a container must be started with its GPUs (--gpus all)"
    if "driver" in told and "too old" in told:
        return (
            f"the NVIDIA driver is too old for CUDA {torch.version.cuda}, which PyTorch {torch.__version__} "
            "is built for: update the driver, or install PyTorch for an older CUDA"
        )
    if visible is not None and "No CUDA GPUs" in told:
        return f"CUDA_VISIBLE_DEVICES is {visible!r} and hides every GPU: unset it, or name one that there is"
    return f"PyTorch finds no GPU that it can use: {told}"


def _told_by_pytorch() -> str:
    """What PyTorch says when it is asked to use CUDA: its first line."""
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        lines = str(error).strip().splitlines()
        return lines[0] if lines else type(error).__name__
    return "it gives no reason"
