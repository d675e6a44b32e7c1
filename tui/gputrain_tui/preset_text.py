"""A preset in words: what the picker says of it."""

from __future__ import annotations

from gputrain_presets.spec import (
    AdamOptimizer,
    CrossEntropyLoss,
    Data,
    DigitsData,
    Loss,
    Model,
    MseLoss,
    NadamOptimizer,
    Optimizer,
    Preset,
    Published,
    SgdOptimizer,
    TeacherData,
)

from . import format


def parameters(preset: Preset) -> str:
    """The parameters of the default size, `17.1 k params`; n/a where the file does not state them."""
    stated = preset.size(preset.model.default_size).parameters
    return f"{format.short(stated)} params"


def sizes(preset: Preset) -> str:
    """The ladder's ends and the default: `×0.25 … ×16, starts with ×1`."""
    names = [format.setting("model_size", name) for name in preset.size_names]
    default = format.setting("model_size", preset.model.default_size)
    ladder = ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
    return f"{ladder}, starts with {default}" if len(names) > 1 else ladder


def data(data: Data, model: Model) -> str:
    """`934,918 × 75 float32, synthetic`."""
    shape = f"{data.training_samples:,} × {model.inputs:,} float32"
    match data:
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


def optimizer(optimizer: Optimizer) -> str:
    """`SGD, lr 0.5, Nesterov momentum 0.5`."""
    match optimizer:
        case SgdOptimizer(lr=lr, momentum=momentum, nesterov=nesterov):
            kind = "Nesterov momentum" if nesterov else "momentum"
            return f"SGD, lr {lr:g}, {kind} {momentum:g}" if momentum else f"SGD, lr {lr:g}"
        case AdamOptimizer(lr=lr):
            return f"Adam, lr {lr:g}"
        case NadamOptimizer(lr=lr):
            return f"Nadam, lr {lr:g}"


def published(figure: Published) -> str:
    """`103.7 s per 10 epochs: Intel Core i7-6700K, Keras on TensorFlow, batch 128`."""
    passes = "" if figure.passes == "training" else ", forward alone"
    what = f"{figure.hardware}, {figure.framework}, batch {figure.batch_size:,}{passes}"
    return f"{figure.value:,g} {figure.unit}: {what}"


def facts(preset: Preset) -> list[tuple[str, str]]:
    """Label and text of everything but the origin."""
    figures = "; ".join(published(figure) for figure in preset.published) or format.UNKNOWN
    return [
        ("sizes", sizes(preset)),
        ("batch", f"{preset.batch_size:,}"),
        ("data", data(preset.data, preset.model)),
        ("loss", loss(preset.loss)),
        ("optimizer", optimizer(preset.optimizer)),
        ("published", figures),
    ]
