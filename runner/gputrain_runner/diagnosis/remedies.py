"""Remedies: settings that can be turned here, or advice; each with what it is predicted to give."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .. import settings as ladder
from ..settings import Context, SettingError, Value
from ..timeline import Remedy
from .estimate import Estimate, gain
from .inputs import Inputs
from .step_model import StepModel, with_batch, with_models

WORTH_IT = 1.03
"""Less than this is not worth a change: it drowns in what a machine varies by itself."""
DOUBLING_PAYS = 1.15
"""A larger batch, or more models, are proposed as long as one more doubling gives so much."""
MOST_OF_MEMORY = 0.85
"""Of the device's memory, what a remedy may fill."""
_CHANGES_MEANING = ("batch_size", "model_size")
_EXACT_PRECISIONS = ("fp32",)


def turn(inputs: Inputs, setting: str, to: Value, ratio: Estimate | None, why: str) -> Remedy | None:
    """A setting to turn; None where it cannot be, has been tried in vain, or would give next to nothing.

    What the session has measured under these very settings takes the prediction's place.
    """
    if (
        inputs.settings.value(setting) == to
        or (setting, to) in inputs.failed
        or not _allowed(inputs, setting, to)
    ):
        return None
    seen = inputs.with_setting(setting, to)
    if seen is not None and inputs.step is not None and inputs.step.samples_per_s:
        measured = seen.samples_per_s / inputs.step.samples_per_s
        ratio = Estimate(0.95 * measured, measured, 1.05 * measured)
        why = f"{why} (measured earlier in this session)"
    if ratio is not None and ratio.likely < WORTH_IT:
        return None
    return Remedy(
        setting=setting,
        to=to,
        predicted_ratio=None if ratio is None else ratio.likely,
        predicted_low=None if ratio is None else ratio.low,
        predicted_high=None if ratio is None else ratio.high,
        why=why,
        keeps_meaning=keeps_meaning(setting, to),
    )


def advise(why: str, ratio: Estimate | None = None) -> Remedy:
    """What no setting can do."""
    return Remedy(
        setting=None,
        to=None,
        predicted_ratio=None if ratio is None else ratio.likely,
        predicted_low=None if ratio is None else ratio.low,
        predicted_high=None if ratio is None else ratio.high,
        why=why,
    )


def keeps_meaning(setting: str, to: Value) -> bool:
    """Whether training computes the same with it, up to rounding."""
    if setting == "precision":
        return to in _EXACT_PRECISIONS
    return setting not in _CHANGES_MEANING


def ordered(remedies: Iterable[Remedy | None]) -> list[Remedy]:
    """What keeps the training as it is first, then more models at once, then what changes it, then advice;
    the largest gain first among each."""

    def place(remedy: Remedy) -> tuple[int, float]:
        if remedy.setting is None:
            rank = 3
        elif not remedy.keeps_meaning:
            rank = 2
        else:
            rank = 1 if remedy.setting == "models_at_once" else 0
        return rank, -(remedy.predicted_ratio or 1.0)

    return sorted((remedy for remedy in remedies if remedy is not None), key=place)


# ----------------------------------------------------------- remedies that many rules share


def larger_batch(inputs: Inputs, model: StepModel) -> Remedy | None:
    """The batch size from which on doubling it no longer pays."""
    size = inputs.settings.batch_size

    def predict(factor: int) -> Estimate | None:
        after_ms = with_batch(inputs, model, factor)
        fits = _fits(inputs, factor) and _allowed(inputs, "batch_size", size * factor)
        return gain(model.step_ms, after_ms, factor) if after_ms is not None and fits else None

    factor, ratio = _as_long_as_it_pays(predict, most=16)
    why = "more samples share what a step costs whatever its size; it changes the training"
    return turn(inputs, "batch_size", size * factor, ratio, why)


def more_models(inputs: Inputs, model: StepModel) -> Remedy | None:
    """Several models trained side by side, where the family can be stacked."""
    if inputs.workload is None or inputs.workload.family not in ("mlp", "file"):
        return None
    count = inputs.settings.models_at_once

    def predict(factor: int) -> Estimate | None:
        after_ms = with_models(inputs, model, factor)
        return (
            None if after_ms is None or not _fits(inputs, factor) else gain(model.step_ms, after_ms, factor)
        )

    factor, ratio = _as_long_as_it_pays(predict, most=max(1, 32 // count))
    why = "each step trains them all, for the price of starting its operations once"
    return turn(inputs, "models_at_once", count * factor, ratio, why)


def _as_long_as_it_pays(predict: Callable[[int], Estimate | None], most: int) -> tuple[int, Estimate | None]:
    factor, ratio = 1, None
    while factor * 2 <= most:
        more = predict(factor * 2)
        if more is None or more.likely < DOUBLING_PAYS * (1.0 if ratio is None else ratio.likely):
            break
        factor, ratio = factor * 2, more
    return factor, ratio


def _fits(inputs: Inputs, factor: float) -> bool:
    """Whether so many times the memory of now is there, as far as is known."""
    device = inputs.device
    peak = None if inputs.memory is None else inputs.memory.peak_allocated_bytes
    if peak is None or device is None or device.memory_bytes is None:
        return True
    others = 0.0 if inputs.gpu is None else inputs.gpu.others_memory_bytes or 0.0
    return peak * factor <= MOST_OF_MEMORY * (device.memory_bytes - others)


def _allowed(inputs: Inputs, setting: str, to: Value) -> bool:
    wanted = inputs.settings.with_value(setting, to)
    capability = None if inputs.device is None else inputs.device.compute_capability
    if ladder.refusal(wanted, capability) is not None:
        return False
    if inputs.preset is None:
        return setting not in ("memory_format", "recurrence")
    names = [device.device for device in inputs.devices] or [inputs.settings.device]
    context = Context(inputs.preset, names, cores=inputs.cores or 64)
    try:
        return ladder.parse(setting, str(to), context) == to
    except SettingError:
        return False
