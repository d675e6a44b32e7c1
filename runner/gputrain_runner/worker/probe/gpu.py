"""What is measured of a CUDA GPU."""

from __future__ import annotations

from functools import partial

import torch

from ...settings import Settings, refusal
from .. import devices
from ..memory_limit import available_memory_bytes
from . import copies, launches, products
from .rounds import PLANNED_ROUNDS, Build, Key
from .timing import Room

PRECISIONS = ("fp32", "tf32", "bf16", "fp16")
_QUANTITIES = len(PRECISIONS) + 7
_FREE_SHARE = 1 / 16
"""Of the free memory, what one quantity may take: all together about half, whatever else is there."""
_HOST_SHARE = 1 / 32
_LONGEST_S = 0.1


def quantities(device: torch.device, seconds: float) -> dict[Key, Build]:
    """Everything there is to measure of it, in about so many seconds."""
    room = Room(
        device=device,
        repeat_s=min(_LONGEST_S, 0.75 * seconds / (_QUANTITIES * PLANNED_ROUNDS)),
        memory_bytes=int(torch.cuda.mem_get_info(device)[0] * _FREE_SHARE),
        host_bytes=int(available_memory_bytes() * _HOST_SHARE),
    )
    found: dict[Key, Build] = {
        ("launch_us", ""): partial(launches.eager, device),
        ("graph_launch_us", ""): partial(launches.in_graph, device),
        ("memory_bytes_per_s", ""): partial(copies.within, room, copies.DEVICE_BYTES),
    }
    for direction in ("h2d", "d2h"):
        for kind in ("pinned", "pageable"):
            found[f"{direction}_{kind}_bytes_per_s", ""] = partial(
                copies.between, room, pinned=kind == "pinned", to_device=direction == "h2d"
            )
    for precision in _precisions(device):
        found["matmul_flops_per_s", precision] = partial(products.rate, room, precision)
    return found


def _precisions(device: torch.device) -> list[str]:
    """Those that training takes on it."""
    capability = devices.capability(str(device))
    asked = Settings(device=str(device), batch_size=1, model_size="")
    return [each for each in PRECISIONS if refusal(asked.with_value("precision", each), capability) is None]
