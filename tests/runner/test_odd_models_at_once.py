"""Models at once of shapes that only users bring: stacked, each computes what it computes alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from gputrain_runner.worker import stacking


class Doubling(nn.Linear):
    """A Linear in name only."""

    def forward(self, inputs: Tensor) -> Tensor:
        return 2 * super().forward(inputs)


class Backwards(nn.Sequential):
    """A Sequential in name only."""

    def forward(self, inputs: Tensor) -> Tensor:
        for layer in reversed(list(self)):
            inputs = layer(inputs)
        return inputs


def shared_activation() -> nn.Module:
    activation = nn.ReLU()
    return nn.Sequential(nn.Linear(6, 8), activation, nn.Linear(8, 8), activation, nn.Linear(8, 6))


def repeated_layer() -> nn.Module:
    layer = nn.Linear(6, 6)
    return nn.Sequential(layer, nn.Tanh(), layer)


def tied_weights() -> nn.Module:
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    model[2].weight = model[0].weight
    return model


def hooked() -> nn.Module:
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh())
    model[0].register_forward_hook(lambda _module, _inputs, outputs: outputs + 1)
    return model


def parametrized() -> nn.Module:
    return nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(6, 6)), nn.Tanh())


def activation_first() -> nn.Module:
    return nn.Sequential(nn.Tanh(), nn.Linear(6, 6, bias=False))


MODELS: list[Callable[[], nn.Module]] = [
    lambda: nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 6)),
    shared_activation,
    repeated_layer,
    tied_weights,
    hooked,
    parametrized,
    activation_first,
    lambda: nn.Sequential(Doubling(6, 6), nn.Tanh()),
    lambda: Backwards(nn.Linear(6, 6), nn.Tanh()),
]


@pytest.mark.parametrize("shape", [(4, 6), (3, 5, 6), (3, 2, 5, 6)], ids=["rows", "sequences", "grids"])
@pytest.mark.parametrize("make", MODELS)
def test_each_computes_what_it_computes_alone(make: Callable[[], nn.Module], shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    models, inputs = [make() for _ in range(3)], torch.randn(shape)

    together = stacking.stack(models)

    expected = torch.stack([model(inputs) for model in models])
    assert torch.allclose(together(inputs), expected, atol=1e-6)
    own = sum(parameter.numel() for model in models for parameter in model.parameters())
    assert sum(parameter.numel() for parameter in together.parameters()) == own


def test_what_is_frozen_stays_so() -> None:
    models = [nn.Sequential(nn.Linear(6, 6).requires_grad_(False), nn.Linear(6, 2)) for _ in range(2)]

    together = stacking.stack(models)

    assert [parameter.requires_grad for parameter in together.parameters()] == [False, False, True, True]
