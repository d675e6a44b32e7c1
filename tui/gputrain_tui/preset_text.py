"""A preset in words: what the picker says of it."""

from __future__ import annotations

from typing import Literal

from gputrain_presets import figures
from gputrain_presets.spec import (
    AdamOptimizer,
    CrossEntropyLoss,
    Data,
    DigitsData,
    ImagesData,
    Loss,
    MlpModel,
    Model,
    MseLoss,
    NadamOptimizer,
    Optimizer,
    Preset,
    Published,
    SgdOptimizer,
    TeacherData,
    TextData,
    TorchLoss,
    TorchOptimizer,
)
from gputrain_presets.user_data import FilesData, RandomData
from gputrain_runner.settings import Settings

from . import format

MOST_RATES = 4
"""So many learning rates of models at once are told."""
MOST_FIGURES = 3
"""So many published figures are told, those nearest in batch size."""


def parameters(preset: Preset) -> str:
    """The parameters of the default size, `17.1 k`; n/a where the file does not state them."""
    return format.short(preset.size(preset.model.default_size).parameters)


def short_title(preset: Preset) -> str:
    """The title for where the batch size is told beside it."""
    return preset.title.removesuffix(f", batch {preset.batch_size}")


def sizes(preset: Preset) -> str:
    """The ladder's ends and the default: `×0.25 … ×16, starts with ×1`."""
    names = [format.setting("model_size", name) for name in preset.size_names]
    default = format.setting("model_size", preset.model.default_size)
    ladder = ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
    beside = "" if preset.other_sizes is None else "; or any DEPTHxWIDTH"
    return f"{ladder}, starts with {default}{beside}" if len(names) > 1 else ladder + beside


def data(data: Data, model: Model) -> str:
    """`934,918 × 75 float32, synthetic`."""
    samples = f"{data.training_samples:,}"
    shape = f"{samples} × {model.inputs:,} float32" if isinstance(model, MlpModel) else samples
    match data:
        case ImagesData(path=None):
            return f"{samples} images of {data.side} × {data.side}, synthetic"
        case ImagesData(path=path):
            return f"images from {path}, scaled to {data.side} × {data.side}"
        case TextData():
            return f"{samples} documents, synthetic"
        case RandomData(inputs=inputs):
            sides = " × ".join(f"{side:,}" for side in [data.training_samples, *inputs.shape])
            return f"{sides} {inputs.dtype}, random"
        case FilesData(path=path, inputs=inputs, targets=targets):
            return f"{inputs} and {targets} from {path}"
        case TeacherData():
            return f"{shape}, synthetic"
        case DigitsData(path=None):
            return f"{shape}, a synthetic stand-in for MNIST"
        case DigitsData(path=path):
            return f"{shape} from {path}"


def loss(loss: Loss) -> str:
    """The loss by its name."""
    match loss:
        case MseLoss():
            return "MSE"
        case CrossEntropyLoss():
            return "cross-entropy"
        case TorchLoss(name=name):
            return name


def optimizer(optimizer: Optimizer) -> str:
    """`SGD, lr 0.5, Nesterov momentum 0.5`, and what models at once have of their own."""
    rates = optimizer.learning_rates
    own = (
        ""
        if rates is None
        else f"; models at once: lr {', '.join(f'{rate:g}' for rate in rates[:MOST_RATES])}"
    )
    more = "" if rates is None or len(rates) <= MOST_RATES else ", ..."
    return f"{_optimizer(optimizer)}{own}{more}"


def _optimizer(optimizer: Optimizer) -> str:
    match optimizer:
        case SgdOptimizer(lr=lr, momentum=momentum, nesterov=nesterov):
            kind = "Nesterov momentum" if nesterov else "momentum"
            return f"SGD, lr {lr:g}, {kind} {momentum:g}" if momentum else f"SGD, lr {lr:g}"
        case AdamOptimizer(lr=lr):
            return f"Adam, lr {lr:g}"
        case NadamOptimizer(lr=lr):
            return f"Nadam, lr {lr:g}"
        case TorchOptimizer(name=name, lr=lr):
            return name if lr is None else f"{name}, lr {lr:g}"


def published(figure: Published) -> str:
    """`103.7 s per 10 epochs: Intel Core i7-6700K, Keras on TensorFlow, batch 128`."""
    passes = "" if figure.passes == "training" else ", forward alone"
    what = f"{figure.hardware}, {figure.framework}, batch {figure.batch_size:,}{passes}"
    return f"{figure.value:,g} {figure.unit}: {what}"


def published_near(preset: Preset, settings: Settings) -> list[str]:
    """The published figures for this size and these passes, those nearest in batch size."""
    passes: Literal["training", "forward"] = "forward" if settings.passes == "forward" else "training"
    near = figures.near(preset, settings.model_size, settings.batch_size, passes)
    return [published(figure) for figure in near[:MOST_FIGURES]]


def few_facts(preset: Preset) -> list[tuple[str, str]]:
    """The same in fewer lines, without the published figures."""
    trains = f"batch {preset.batch_size:,}, {loss(preset.loss)}, {optimizer(preset.optimizer)}"
    kept = [fact for fact in facts(preset) if fact[0] in ("sizes", "data")]
    return [*kept, ("trains", trains)]


def published_figures(preset: Preset) -> list[str]:
    """Those for the default size and training, nearest in batch size first."""
    near = figures.near(preset, preset.model.default_size, preset.batch_size, "training")
    return [published(figure) for figure in near[:MOST_FIGURES]]


def facts(preset: Preset) -> list[tuple[str, str]]:
    """Label and text of everything but the origin."""
    return [
        ("sizes", sizes(preset)),
        ("batch", f"{preset.batch_size:,}"),
        ("data", data(preset.data, preset.model)),
        ("loss", loss(preset.loss)),
        ("optimizer", optimizer(preset.optimizer)),
        ("published", "; ".join(published_figures(preset)) or format.UNKNOWN),
    ]
