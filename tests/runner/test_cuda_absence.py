"""Why there is no CUDA GPU: what is said for each of the usual reasons."""

from __future__ import annotations

import pytest
import torch

from gputrain_runner.worker.cuda_absence import cuda_absence

NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver "
    "from http://www.nvidia.com/Download/index.aspx"
)
TOO_OLD = "The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver"


@pytest.fixture(autouse=True)
def without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_a_build_without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", None)

    assert cuda_absence() == (
        f"PyTorch {torch.__version__} is built without CUDA: install a build with it, see "
        "https://pytorch.org/get-started/locally"
    )


@pytest.mark.parametrize(
    ("said", "visible", "told"),
    [
        (NO_DRIVER, None, "there is no NVIDIA driver: install it; a container must be started with its GPUs"),
        (TOO_OLD, None, "the NVIDIA driver is too old for CUDA 12.8, which PyTorch"),
        ("No CUDA GPUs are available", "", "CUDA_VISIBLE_DEVICES is '' and hides every GPU: unset it"),
        ("No CUDA GPUs are available", "7", "CUDA_VISIBLE_DEVICES is '7' and hides every GPU: unset it"),
        (
            "No CUDA GPUs are available",
            None,
            "PyTorch finds no GPU that it can use: No CUDA GPUs are availab",
        ),
        (
            "system not yet initialized\nmore",
            None,
            "PyTorch finds no GPU that it can use: system not yet init",
        ),
    ],
)
def test_a_build_with_cuda(
    said: str, visible: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init() -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(torch.cuda, "init", init)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    reason = cuda_absence() or ""

    assert reason.startswith(told)
    assert "\n" not in reason


def test_nothing_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    assert cuda_absence() is None
