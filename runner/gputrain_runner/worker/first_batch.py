"""A small batch through model, loss and optimizer before training, where a wrong preset shows.

On the CPU, where an error is told at once and leaves the device as it was.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn

from gputrain_presets import Preset, PresetError, spec
from gputrain_presets.user_data import FilesData, RandomData
from gputrain_presets.user_models import UserModel

from ..settings import Settings
from . import ensemble, losses, models, optimizers, user_code
from .data import AnySplit, Dataset

SAMPLES = 2
"""Batch normalisation cannot train on one."""
_OF_THE_USERS = (UserModel, RandomData, FilesData, spec.TorchLoss, spec.TorchOptimizer)


def check(preset: Preset, dataset: Dataset, settings: Settings) -> None:
    """PresetError where the parts of a preset that a user chose do not work, or not together.

    It names the key, what was tried and what came of it, at a line of the user's where there is one. The
    random state is left as it was. Presets of known parts alone are right by their construction.
    """
    size = settings.model_size
    _check_models_at_once(preset, settings)
    parts = (preset.model, preset.data, preset.loss, preset.optimizer)
    if not any(isinstance(part, _OF_THE_USERS) for part in parts):
        return
    with torch.random.fork_rng(devices=[]):
        measure_loss = losses.build(preset.loss)
        model = models.build(preset.model, size).to("cpu").train()
        optimizer = optimizers.build(preset.optimizer, model.parameters())
        inputs, targets = dataset.training.gather(torch.arange(min(SAMPLES, len(dataset.training))))
        outputs = _forward(preset, model, inputs)
        _check_labels(preset, dataset, outputs)
        loss = _loss(preset, measure_loss, outputs, targets)
        _check_finite(preset, outputs, loss)
        user_code.call(f"{_model_key(preset)}: the backward pass", loss.backward)
        user_code.call(f"{_optimizer_key(preset)}: the first step", optimizer.step)


def _check_models_at_once(preset: Preset, settings: Settings) -> None:
    """That there can be several where several are asked for, or are given learning rates."""
    many, rates = settings.models_at_once, preset.optimizer.learning_rates
    if many == 1 and rates is None:
        return
    with torch.random.fork_rng(devices=[]):
        model = models.build(preset.model, settings.model_size)
        reason = ensemble.refusal(model, optimizers.build(preset.optimizer, model.parameters()))
    if reason is not None:
        key, found = ("models_at_once", many) if rates is None else ("optimizer.learning_rates", len(rates))
        raise PresetError(f"{key}: found {found}, but {reason}")


def _forward(preset: Preset, model: nn.Module, inputs: Tensor) -> Tensor:
    key = _model_key(preset)
    outputs = user_code.call(f"{key}: inputs {_words(inputs)}", lambda: model(inputs))
    if not isinstance(outputs, Tensor):
        found = f"outputs of type {type(outputs).__name__}"
        raise PresetError(f"{key}: inputs {_words(inputs)}: {found}, allowed: one tensor")
    if not outputs.requires_grad:
        found = f"outputs {_words(outputs)} that no parameter has a part in"
        raise PresetError(f"{key}: inputs {_words(inputs)}: {found}: there is nothing to train")
    return outputs


def _loss(preset: Preset, measure_loss: losses.LossFunction, outputs: Tensor, targets: Tensor) -> Tensor:
    key = "loss.name" if isinstance(preset.loss, spec.TorchLoss) else "loss.kind"
    what = f"{key}: outputs {_words(outputs)} against targets {_words(targets)}"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loss: Tensor = user_code.call(what, lambda: measure_loss(outputs, targets))
    if any("Using a target size" in str(warning.message) for warning in said):
        raise PresetError(f"{what}: shapes that differ, which PyTorch would stretch; allowed: the same shape")
    if loss.numel() != 1:
        raise PresetError(f"{what}: a loss {_words(loss)}, allowed: one number")
    return loss


def _check_labels(preset: Preset, dataset: Dataset, outputs: Tensor) -> None:
    """That each label has an output: on a GPU one that has none would be the end of the process."""
    if not losses.counts_correct(preset.loss) or outputs.dim() < 2:
        return
    classes, ignored = outputs.shape[1], losses.ignored_label(preset.loss)
    for split in (dataset.training, dataset.validation):
        labels = None if split is None else _labels(split)
        if labels is None:
            continue
        wrong = labels[((labels < 0) | (labels >= classes)) & (labels != ignored)]
        if len(wrong):
            key = "data.targets" if isinstance(preset.data, RandomData | FilesData) else "data"
            allowed = f"0 to {classes - 1}: the model has {classes:,} outputs"
            raise PresetError(f"{key}: has the label {wrong[0].item()}, allowed: {allowed}")


def _labels(split: AnySplit) -> Tensor | None:
    """The labels of a split; None where it has none."""
    for name in ("targets", "labels"):
        found = getattr(split, name, None)
        if isinstance(found, Tensor) and not found.is_floating_point():
            return found
    return None


def _check_finite(preset: Preset, outputs: Tensor, loss: Tensor) -> None:
    if not outputs.isfinite().all():
        raise PresetError(f"{_model_key(preset)}: outputs that are not finite, of inputs that are")
    if not loss.isfinite():
        raise PresetError(f"loss: {loss.item()} on the first batch: training would make every weight nan")


def _model_key(preset: Preset) -> str:
    return "model.build" if isinstance(preset.model, UserModel) else "model"


def _optimizer_key(preset: Preset) -> str:
    return "optimizer.name" if isinstance(preset.optimizer, spec.TorchOptimizer) else "optimizer.kind"


def _words(tensor: Tensor) -> str:
    """`(2, 3, 32, 32) float32`."""
    return f"{tuple(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"
