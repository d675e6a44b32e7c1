"""What the types cannot say of a model and data of the user's own."""

from __future__ import annotations

from .explain import MissingKeyError, WrongKeyError
from .spec import Preset
from .user_data import FilesData, Numbers, RandomData
from .user_models import UserModel


def check(preset: Preset) -> None:
    """WrongKeyError where keys that are right by themselves do not fit together."""
    model, data = preset.model, preset.data
    if isinstance(model, UserModel) and not (model.file.endswith(".py") and model.file.isprintable()):
        raise WrongKeyError("model.file", model.file, "the path of a Python file, which ends in .py")
    if isinstance(data, RandomData):
        _numbers("data.inputs", data.inputs)
        _numbers("data.targets", data.targets)
    if isinstance(data, FilesData):
        _files(data)


def _numbers(key: str, numbers: Numbers) -> None:
    if numbers.dtype == "int64" and numbers.classes is None:
        raise MissingKeyError(f"{key}.classes", "a whole number from 1 where dtype is 'int64'")
    if numbers.dtype == "float32" and numbers.classes is not None:
        raise WrongKeyError(f"{key}.classes", numbers.classes, "none where dtype is 'float32'")


def _files(data: FilesData) -> None:
    inputs, targets = data.validation_inputs, data.validation_targets
    if (inputs is None) != (targets is None):
        missing, there = ("inputs", "targets") if inputs is None else ("targets", "inputs")
        raise MissingKeyError(f"data.validation_{missing}", f"there where validation_{there} is")
    if inputs is not None and data.validation_share:
        raise WrongKeyError(
            "data.validation_share", data.validation_share, "none where validation_inputs is given"
        )
    if data.input_scale is not None and data.input_dtype == "int64":
        raise WrongKeyError("data.input_scale", data.input_scale, "none where input_dtype is 'int64'")
