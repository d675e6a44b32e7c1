"""What only a loaded PyTorch can say of itself and its GPUs: a program that prints it as one JSON line.

`gputrain-tui doctor --torch` runs it in a process of its own.
"""

from __future__ import annotations

import json
import os
from typing import Any

import torch

from ..timeline import Device
from .cuda_absence import cuda_absence
from .devices import available, cudnn_version


def main() -> None:
    """Print the line, in the form of `doctor.torch_loaded`."""
    # Libraries print on standard output too; the line alone belongs to who asked.
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    cuda = torch.cuda.is_available()
    facts = {
        "absence": cuda_absence(),
        "kernels": torch.cuda.get_arch_list() if cuda else [],
        "devices": [_device(one) for one in available() if one.device != "cpu"],
        "threads": torch.get_num_threads(),
        "cudnn": cudnn_version(),
    }
    os.write(answer_fd, json.dumps(facts).encode() + b"\n")


def _device(device: Device) -> dict[str, Any]:
    """A GPU, and whether a first small kernel runs on it."""
    error = None
    try:
        if (torch.ones(8, device=device.device) + 1).sum().item() != 16:
            error = "a sum of 8 twos is not 16"
    except Exception as failure:
        error = str(failure).partition("\n")[0] or type(failure).__name__
    return {
        "name": device.name or device.device,
        "uuid": device.uuid,
        "capability": torch.cuda.get_device_capability(device.device),
        "error": error,
    }


if __name__ == "__main__":
    main()
