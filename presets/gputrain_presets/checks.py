"""What the types of `spec` cannot say: values that fit by themselves but not here, or not together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .explain import MissingKeyError, WrongKeyError, choice
from .spec import CrossEntropyLoss, DigitsData, MlpModel, MseLoss, Preset, SgdOptimizer, TeacherData

DIGIT_INPUTS = 784
DIGIT_CLASSES = 10
LARGEST_WHOLE = 2**63 - 1


def before(table: dict[str, Any]) -> None:
    """WrongKeyError for what must be right in a file's tables before they are read as a preset."""
    for key, value in _leaves(table, ""):
        if isinstance(value, float) and not math.isfinite(value):
            raise WrongKeyError(key, value, "a finite number")
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            raise WrongKeyError(key, value, f"a whole number up to {LARGEST_WHOLE}")
    model = table.get("model")
    if isinstance(model, dict) and "family" not in model:
        # msgspec takes the only family there is; a file must stay right when there are more.
        raise MissingKeyError("model.family", "the name of a family of models, such as 'mlp'")


def after(preset: Preset) -> None:
    """WrongKeyError where keys that are right by themselves do not fit together."""
    for key, text in (("name", preset.name), ("title", preset.title)):
        if not text.strip() or not text.isprintable():
            raise WrongKeyError(key, text, "one line of text")
    _sizes(preset.model)
    _data_and_model(preset)
    data, optimizer = preset.data, preset.optimizer
    if isinstance(optimizer, SgdOptimizer) and optimizer.nesterov and not optimizer.momentum:
        raise WrongKeyError("optimizer.momentum", optimizer.momentum, "above 0 where nesterov is true")
    if getattr(data, "path", None) is None and preset.batch_size > data.training_samples:
        most = f"at most data.training_samples, {data.training_samples}"
        raise WrongKeyError("batch_size", preset.batch_size, most)


def _sizes(model: MlpModel) -> None:
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
    model, data, loss = preset.model, preset.data, preset.loss
    if isinstance(data, TeacherData) and not isinstance(loss, MseLoss):
        raise WrongKeyError("loss.kind", _tag(loss), "'mse' where data.kind is 'teacher': numbers")
    if not isinstance(data, DigitsData):
        return
    if not isinstance(loss, CrossEntropyLoss):
        raise WrongKeyError("loss.kind", _tag(loss), "'cross_entropy' where data.kind is 'digits': labels")
    if model.inputs != DIGIT_INPUTS:
        raise WrongKeyError("model.inputs", model.inputs, f"{DIGIT_INPUTS} where data.kind is 'digits'")
    if model.outputs != DIGIT_CLASSES:
        raise WrongKeyError("model.outputs", model.outputs, f"{DIGIT_CLASSES} where data.kind is 'digits'")


def _tag(struct: MseLoss | CrossEntropyLoss) -> str:
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
