"""What the types of `spec` cannot say: values that fit by themselves but not here, or not together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from . import user_checks
from .explain import NOT_KEYS, MissingKeyError, UnknownKeyError, WrongKeyError, choice
from .image_models import ImageModel
from .spec import (
    CrossEntropyLoss,
    Data,
    DigitsData,
    ImagesData,
    MlpModel,
    Model,
    MseLoss,
    Preset,
    SgdOptimizer,
    TeacherData,
    TextData,
)
from .tables import Table
from .text_models import HierBiLstmModel
from .user_data import FilesData, RandomData
from .user_models import UserModel

DIGIT_INPUTS = 784
DIGIT_CLASSES = 10
IMAGE_CHANNELS = 3
LARGEST_WHOLE = 2**63 - 1

_FITTING: tuple[tuple[Any, tuple[type[Data], ...]], ...] = (
    (MlpModel, (TeacherData, DigitsData, RandomData, FilesData)),
    (ImageModel, (ImagesData, RandomData, FilesData)),
    (HierBiLstmModel, (TextData,)),
    (UserModel, (RandomData, FilesData, DigitsData, ImagesData)),
)
"""Families, and the kinds of data that each can be trained on."""


def before(table: dict[str, Any]) -> None:
    """WrongKeyError for what must be right in a file's tables before they are read as a preset."""
    for key, value in _leaves(table, ""):
        if isinstance(value, float) and not math.isfinite(value):
            raise WrongKeyError(key, value, "a finite number")
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            raise WrongKeyError(key, value, f"a whole number up to {LARGEST_WHOLE}")
    for key in NOT_KEYS:
        if key in table:
            raise UnknownKeyError(key)
    model = table.get("model")
    if isinstance(model, dict) and "family" not in model:
        families = "the name of a family of models, such as 'mlp'; or model.file a Python file of your own"
        raise MissingKeyError("model.family", families)


def after(preset: Preset) -> None:
    """WrongKeyError where keys that are right by themselves do not fit together."""
    for key, text in (("name", preset.name), ("title", preset.title)):
        if not text.strip() or not text.isprintable():
            raise WrongKeyError(key, text, "one line of text")
    _sizes(preset.model)
    _names_of_sizes(preset)
    user_checks.check(preset)
    _data_and_model(preset)
    data, optimizer = preset.data, preset.optimizer
    if isinstance(optimizer, SgdOptimizer) and optimizer.nesterov and not optimizer.momentum:
        raise WrongKeyError("optimizer.momentum", optimizer.momentum, "above 0 where nesterov is true")
    if optimizer.learning_rates is not None and optimizer.lr != optimizer.learning_rates[0]:
        first = f"the first of learning_rates, {optimizer.learning_rates[0]:g}, or leave it out"
        raise WrongKeyError("optimizer.lr", optimizer.lr, f"{first}: a model alone is the first of them")
    if getattr(data, "path", None) is None and preset.batch_size > data.training_samples:
        most = f"at most data.training_samples, {data.training_samples}"
        raise WrongKeyError("batch_size", preset.batch_size, most)


def _sizes(model: Model) -> None:
    names = [size.name for size in model.sizes]
    for index, name in enumerate(names):
        key = f"model.sizes[{index}].name"
        if not name.isprintable():
            raise WrongKeyError(key, name, "one line of text")
        if name in names[:index]:
            raise WrongKeyError(key, name, f"a name that model.sizes[{names.index(name)}] does not have yet")
    if model.default_size not in names:
        raise WrongKeyError("model.default_size", model.default_size, choice(names))


def _data_and_model(preset: Preset) -> None:
    model, data = preset.model, preset.data
    fitting = next(kinds for family, kinds in _FITTING if isinstance(model, family))
    if not isinstance(data, fitting):
        where = f"where model.family is {_tag(model)!r}"
        raise WrongKeyError("data.kind", _tag(data), f"{choice(map(_tag, fitting))} {where}")
    _loss(preset)
    if isinstance(model, ImageModel) and isinstance(data, ImagesData):
        _images(model, data)
    if isinstance(model, MlpModel) and isinstance(data, DigitsData):
        _digits(model)
    if isinstance(model, MlpModel) and model.any_size is not None:
        for key, (least, most) in (("depth", model.any_size.depth), ("width", model.any_size.width)):
            if least > most:
                raise WrongKeyError(f"model.any_size.{key}[1]", most, f"a whole number from {least} on")
    if isinstance(model, HierBiLstmModel) and isinstance(data, TextData):
        _text(model, data)


def _loss(preset: Preset) -> None:
    """A loss of numbers for numbers, of labels for labels; of PyTorch's, the first batch tells."""
    data, loss = preset.data, preset.loss
    if isinstance(data, TeacherData) and isinstance(loss, CrossEntropyLoss):
        raise WrongKeyError("loss.kind", _tag(loss), "'mse' or 'torch' where data.kind is 'teacher': numbers")
    if isinstance(data, DigitsData | ImagesData | TextData) and isinstance(loss, MseLoss):
        where = f"where data.kind is {_tag(data)!r}: labels"
        raise WrongKeyError("loss.kind", _tag(loss), f"'cross_entropy' or 'torch' {where}")


def _text(model: HierBiLstmModel, data: TextData) -> None:
    for key, shortest, longest in (
        ("document", data.shortest_document, model.longest_document),
        ("sentence", data.shortest_sentence, model.longest_sentence),
    ):
        if shortest > longest:
            most = f"at most model.longest_{key}, {longest}"
            raise WrongKeyError(f"data.shortest_{key}", shortest, most)


def _digits(model: MlpModel) -> None:
    if model.inputs != DIGIT_INPUTS:
        raise WrongKeyError("model.inputs", model.inputs, f"{DIGIT_INPUTS} where data.kind is 'digits'")
    if model.outputs != DIGIT_CLASSES:
        raise WrongKeyError("model.outputs", model.outputs, f"{DIGIT_CLASSES} where data.kind is 'digits'")


def _images(model: ImageModel, data: ImagesData) -> None:
    if data.side != model.image_side:
        raise WrongKeyError("data.side", data.side, f"model.image_side, {model.image_side}")
    if data.channels != IMAGE_CHANNELS:
        raise WrongKeyError("data.channels", data.channels, f"3 where model.family is {_tag(model)!r}")
    if data.path is None and data.classes > model.classes:
        raise WrongKeyError("data.classes", data.classes, f"at most model.classes, {model.classes}")


def _names_of_sizes(preset: Preset) -> None:
    """Figures and aliases name rungs that there are."""
    for index, figure in enumerate(preset.published):
        if figure.size is not None and figure.size not in preset.size_names:
            raise WrongKeyError(f"published[{index}].size", figure.size, choice(preset.size_names))
    for alias, size in preset.aliases.items():
        if size not in preset.size_names:
            raise WrongKeyError(f"aliases.{alias}", size, choice(preset.size_names))


def _tag(struct: Table | type[Table]) -> str:
    return str(struct.__struct_config__.tag)


def _leaves(value: object, key: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{key}[{index}]")
    else:
        yield key, value
