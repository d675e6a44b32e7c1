"""What a preset says of the work in one of its sizes, without building it."""

from __future__ import annotations

from math import prod

from gputrain_presets import Preset, spec, text_models, user_data, user_models

from .inputs import Workload

_FLOAT_BYTES = 4
_LABEL_BYTES = 8
_CONVOLUTIONAL = ("alexnet", "overfeat", "vgg", "googlenet", "resnet")


def workload(preset: Preset, size: str) -> Workload | None:
    """The facts; None where the preset has no such size."""
    try:
        rung = preset.size(size)
    except KeyError:
        return None
    model = preset.model
    family = str(type(model).__struct_config__.tag)
    parameters, tensors = rung.parameters, None
    if isinstance(model, spec.MlpModel):
        parameters = model.parameters(size)
        tensors = 2 * (len(model.hidden(size)) + 1)
    recurrent = isinstance(model, text_models.HierBiLstmModel)
    return Workload(
        family=family,
        convolutional=family in _CONVOLUTIONAL,
        recurrent=recurrent,
        own_code=isinstance(model, user_models.UserModel),
        parameters=parameters,
        tensors=tensors,
        sample_bytes=sample_bytes(preset),
        sequence_steps=_sequence_steps(preset),
        optimizer=_optimizer(preset.optimizer),
        optimizer_way=_way(preset.optimizer),
        in_memory=not (isinstance(preset.data, spec.ImagesData) and preset.data.path is not None),
        training_samples=preset.data.training_samples,
    )


def sample_bytes(preset: Preset) -> int | None:
    """Bytes of a sample's inputs and targets on their way to the device; None where files decide."""
    model, data = preset.model, preset.data
    match data:
        case spec.TeacherData():
            assert isinstance(model, spec.MlpModel)
            return (model.inputs + model.outputs) * _FLOAT_BYTES
        case spec.DigitsData():
            return 784 * _FLOAT_BYTES + _LABEL_BYTES
        case spec.ImagesData():
            return data.channels * data.side**2 * _FLOAT_BYTES + _LABEL_BYTES
        case spec.TextData():
            assert isinstance(model, text_models.HierBiLstmModel)
            return model.longest_document * model.longest_sentence * _LABEL_BYTES + _LABEL_BYTES
        case user_data.RandomData():
            return _numbers_bytes(data.inputs) + _numbers_bytes(data.targets)
        case _:
            return None


def _numbers_bytes(numbers: user_data.Numbers) -> int:
    return prod(numbers.shape) * (_FLOAT_BYTES if numbers.dtype == "float32" else _LABEL_BYTES)


def _sequence_steps(preset: Preset) -> int | None:
    """Steps in time: of a user's data, the first dimension of a sample that is a table or a row of words."""
    model, data = preset.model, preset.data
    if isinstance(model, text_models.HierBiLstmModel):
        return model.longest_sentence + model.longest_document
    if isinstance(data, user_data.RandomData):
        shape = data.inputs.shape
        if len(shape) == 2 or (len(shape) == 1 and data.inputs.dtype == "int64"):
            return shape[0]
    return None


def _optimizer(optimizer: spec.Optimizer) -> str:
    if isinstance(optimizer, spec.TorchOptimizer):
        return optimizer.name
    return {"sgd": "SGD", "adam": "Adam", "nadam": "NAdam"}[str(type(optimizer).__struct_config__.tag)]


def _way(optimizer: spec.Optimizer) -> str | None:
    if not isinstance(optimizer, spec.TorchOptimizer):
        return None
    arguments = optimizer.arguments
    if arguments.get("fused"):
        return "fused"
    return (
        {True: "foreach", False: "loop"}.get(bool(arguments["foreach"])) if "foreach" in arguments else None
    )
