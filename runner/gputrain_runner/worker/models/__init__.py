"""The families of models: a family is a file here, and its line in `_FAMILIES`."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor, nn

from gputrain_presets import image_models, spec, text_models
from gputrain_presets.user_models import UserModel

from . import alexnet, googlenet, hier_bilstm, mlp, overfeat, resnet, user, vgg


class Family(Protocol):
    """What the file of a family has; `model` is the family's own struct."""

    def build(self, model: Any, size: str) -> nn.Module:
        """The model of that size."""

    def example_inputs(self, model: Any, samples: int) -> Tensor:
        """Inputs of the shape and type that it takes, for so many samples."""


_FAMILIES: dict[type[spec.Model], Family] = {
    spec.MlpModel: mlp,
    text_models.HierBiLstmModel: hier_bilstm,
    image_models.AlexnetModel: alexnet,
    image_models.OverfeatModel: overfeat,
    image_models.VggModel: vgg,
    image_models.GooglenetModel: googlenet,
    image_models.ResnetModel: resnet,
}


def build(model: spec.Model, size: str) -> nn.Module:
    """The model of that size on the current default device, in training mode.

    Its parameters are float32 and drawn from PyTorch's global random state. KeyError where the model
    has no size of that name. A user's own model is as their function built it; PresetError where it
    could not.
    """
    if isinstance(model, UserModel):
        return user.build(model, size)
    return _FAMILIES[type(model)].build(model, size)


def example_inputs(model: spec.Model, samples: int) -> Tensor:
    """Inputs of the shape and type that the model takes, all 0, on the current default device.

    Not for a user's own model, which does not say what it takes.
    """
    return _FAMILIES[type(model)].example_inputs(model, samples)
