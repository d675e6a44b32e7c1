"""Where an optimizer counts its steps: on the host, or on the device where graphs run without it.

PyTorch calls the latter `capturable`.
"""

from __future__ import annotations

from torch import Tensor, optim

COUNTERS = ("step", "mu_product")
"""What optimizers keep that depends on the number of steps alone."""


def count_on_device(optimizer: optim.Optimizer) -> None:
    """Let it count where its parameters are, if it can, from the number it has reached."""
    _settle(optimizer, capturable=True)


def count_on_host(optimizer: optim.Optimizer) -> None:
    """Let it count as it was made to, which is on the host unless it was asked for otherwise.

    Also mends what loading a state does: some of the counters end on the parameters' device, where every
    step would wait for the device to read them.
    """
    _settle(optimizer, capturable=False)


def counted_on_host(optimizer: optim.Optimizer) -> str | None:
    """What of its state a graph would not see change: a name; None where there is nothing."""
    for parameter, state in optimizer.state.items():
        for name, value in state.items():
            if isinstance(value, bool | int | float):
                return str(name)
            if isinstance(value, Tensor) and value.device != parameter.device:
                return str(name)
    return None


def _settle(optimizer: optim.Optimizer, capturable: bool) -> None:
    for group in optimizer.param_groups:
        if "capturable" in group:
            group["capturable"] = capturable or optimizer.defaults["capturable"]
        on_device = group.get("capturable") or group.get("fused")
        for parameter in group["params"]:
            state = optimizer.state.get(parameter, {})
            for name in COUNTERS:
                value = state.get(name)
                if isinstance(value, Tensor):
                    state[name] = value.to(parameter.device if on_device else "cpu")
