"""Rules of a step's parts: optimizer, recurrence, layout of images, compiling again and again."""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding, Remedy
from .. import words
from ..estimate import Estimate, between, gain
from ..inputs import Inputs
from ..remedies import advise, larger_batch, turn
from ..step_model import StepModel, kind_ms
from .names import LAYOUT, OPTIMIZER, RECOMPILING, RECURRENCE
from .rule import finding

OPTIMIZER_SHARE = 0.15
"""Of a step: warns from here, 30 % is a lot. TorchTidy tells of any single-tensor optimizer."""
CPU_BYTES_PER_S, GPU_BYTES_PER_S = 8e9, 500e9
"""Memory bandwidth where the probe has not said: less than any machine of today has."""
FUSED = ("SGD", "Adam", "AdamW", "Adagrad")
"""Have a fused version in PyTorch, on CPU and GPU."""
LEFT_BY_FUSED = Estimate(0.25, 0.45, 0.7)
"""Of the optimizer's time; 0.33 to 0.36 was measured on a CPU with PyTorch 2.13, for 10 tensors."""
LEFT_BY_FOREACH_CPU = Estimate(0.7, 0.9, 1.1)
"""The same where all tensors go into one call that loops over them: 0.75 to 1.05 was measured."""
PASSES_OVER_PARAMETERS = {"SGD": 5, "Adam": 7, "AdamW": 7, "NAdam": 7}
"""How often a fused update reads or writes each parameter-sized array."""
USES_PER_TENSOR = 8
"""Matrix products for each weight and step, beyond which a loop over time is the likely cause."""
LAUNCHES_PER_TIME_STEP = 20
"""Kernels for each step in time, forward and backward, of a recurrence that is not fused."""
SAVED_ON_CPU = Estimate(0.35, 0.85, 1.3)
"""Of what starting the work costs, what PyTorch's own LSTM saves over cells in a loop on a CPU: oneDNN's
computes no faster, so a step saves about the same whatever its batch (11 ms of hier-bilstm's at 1 and 4)."""
CONVOLUTION_SHARE = 0.30
COMPILATIONS = 2
"""In a minute, that no change explains; PyTorch gives up by itself after 8 variants of a function."""


def optimizer_heavy(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where updating the weights takes a seventh of the step or more."""
    took_ms = _optimizer_ms(inputs)
    if took_ms is None or inputs.settings.passes != "training" or took_ms < OPTIMIZER_SHARE * model.step_ms:
        return None
    workload = inputs.workload
    parameters = None if workload is None else workload.parameters
    kind = None if inputs.profile is None else inputs.profile.work.get("optimizer")
    name = "The optimizer" if workload is None or not workload.optimizer else workload.optimizer
    sentence = (
        f"Optimizer-heavy. {name} takes {words.ms(took_ms)} of each {words.ms(model.step_ms)} step to update "
        "the weights."
    )
    least_ms = least_optimizer_ms(inputs)
    way = _way(inputs)
    tensors = f" on {workload.tensors} tensors" if workload is not None and workload.tensors else ""
    evidence = [
        f"{words.percent(took_ms / model.step_ms)} of the step",
        None if kind is None else f"{words.count(kind.count)} operations for it{tensors}",
        "it goes through the tensors one by one" if way == "loop" else None,
        f"reading and writing {words.count(parameters)} parameters takes at least {about(inputs.ceilings)}"
        f"{words.ms(least_ms)}"
        if parameters and least_ms is not None
        else None,
    ]
    remedies = [
        _update_at_once(model, took_ms, least_ms, name, way, inputs.on_cpu),
        larger_batch(inputs, model),
    ]
    return finding(OPTIMIZER, sentence, evidence, remedies, took_ms, model.step_ms)


def _way(inputs: Inputs) -> str:
    """How the optimizer goes about it; PyTorch loops over the tensors on a CPU, not on a GPU."""
    told = None if inputs.workload is None else inputs.workload.optimizer_way
    return told or ("loop" if inputs.on_cpu else "foreach")


def _update_at_once(
    model: StepModel, took_ms: float, least_ms: float | None, name: str, way: str, on_cpu: bool
) -> Remedy | None:
    if way == "fused":
        return None
    if name in FUSED:
        left, why = LEFT_BY_FUSED, "fused=True: one pass over all weights"
    elif way == "loop":
        left, why = LEFT_BY_FOREACH_CPU if on_cpu else LEFT_BY_FUSED, "foreach=True: one call for all tensors"
    else:
        return None
    rest_ms = model.step_ms - took_ms
    floor_ms = min(least_ms or 0.0, took_ms)
    after = between(*(rest_ms + max(floor_ms, part * took_ms) for part in (left.low, left.likely, left.high)))
    return advise(f"{why} (in a preset's optimizer.arguments)", gain(model.step_ms, after))


def _optimizer_ms(inputs: Inputs) -> float | None:
    """Its share of the wall time; on a GPU its kernels'.

    The gaps in its span there are the host's, as in every other phase, and are told as such; they are its
    own where it asks for kernels tensor by tensor, or where what really ran is not known.
    """
    if inputs.step is None:
        return None
    if inputs.on_cpu:
        return inputs.step.host_ms.get("optimizer")
    span_ms = inputs.step.device_ms.get("optimizer")
    kind = None if inputs.profile is None else inputs.profile.work.get("optimizer")
    if span_ms is not None and (kind is None or _way(inputs) == "loop"):
        return span_ms
    return None if kind is None else kind.ms


def least_optimizer_ms(inputs: Inputs) -> float | None:
    """To read and write weights and moments as often as an update must; None where that is not known."""
    parameters = None if inputs.workload is None else inputs.workload.parameters
    if parameters is None:
        return None
    passes = PASSES_OVER_PARAMETERS.get(inputs.workload.optimizer if inputs.workload else "", 7)
    measured = inputs.ceilings.memory_bytes_per_s if inputs.ceilings is not None else None
    rate = measured.median if measured else CPU_BYTES_PER_S if inputs.on_cpu else GPU_BYTES_PER_S
    return 4.0 * parameters * inputs.settings.models_at_once * passes / rate * 1e3


def unfused_recurrence(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where a recurrent network goes through time operation by operation."""
    profile, workload = inputs.profile, inputs.workload
    if profile is None or workload is None or model.starting is None:
        return None
    stepwise = inputs.settings.recurrence == "stepwise"
    if not stepwise and not _loops_over_time(inputs):
        return None
    per_time_step = profile.launches / workload.sequence_steps if workload.sequence_steps else None
    if not stepwise and per_time_step is not None and per_time_step < LAUNCHES_PER_TIME_STEP:
        return None
    lost_ms = 0.9 * model.starting.likely
    if lost_ms < 0.05 * model.step_ms:
        return None
    operations = "operations" if inputs.on_cpu else "kernels"
    sentence = (
        "Unfused recurrence. The network goes through time step by step in Python: "
        f"{words.count(profile.launches)} "
        f"{operations} a step, and starting them takes about {words.ms(lost_ms)} of "
        f"{words.ms(model.step_ms)}."
    )
    evidence = [
        f"{words.count(profile.work['matmul'].count)} small matrix products a step"
        if "matmul" in profile.work
        else None,
        f"about {words.count(per_time_step)} {operations} for each of {workload.sequence_steps} steps in time"
        if per_time_step is not None
        else None,
    ]
    return finding(RECURRENCE, sentence, evidence, [_fuse(inputs, model)], lost_ms, model.step_ms)


def _fuse(inputs: Inputs, model: StepModel) -> Remedy | None:
    """cuDNN's recurrence is a few kernels per layer; on a CPU the loop moves into one operator."""
    assert model.starting is not None
    starting = model.starting
    rest_ms = model.step_ms - starting.likely
    if inputs.on_cpu:
        saved = SAVED_ON_CPU
        after = between(
            *(model.step_ms - part * starting.likely for part in (saved.high, saved.likely, saved.low))
        ).at_least(0.3 * model.step_ms)
    else:
        after = between(
            0.15 * rest_ms, 0.5 * rest_ms + 0.05 * starting.likely, rest_ms + 0.15 * starting.likely
        )
    ratio = gain(model.step_ms, after)
    why = "the whole recurrence in one call (nn.LSTM or nn.GRU over the sequence)"
    if inputs.settings.recurrence == "stepwise":
        return turn(inputs, "recurrence", "fused", ratio, why)
    return advise(f"{why} instead of a loop over cells", ratio)


def _loops_over_time(inputs: Inputs) -> bool:
    """Of a user's own model: whether its weights are used many times in a step."""
    profile, workload = inputs.profile, inputs.workload
    if profile is None or workload is None or not workload.own_code or "matmul" not in profile.work:
        return False
    products = profile.work["matmul"].count
    if workload.sequence_steps is not None and workload.sequence_steps >= 8:
        return products >= 3 * workload.sequence_steps
    updates = profile.work.get("optimizer")
    return updates is not None and products >= USES_PER_TENSOR * max(1.0, updates.count)


def layout(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where convolutions run on images laid out channel by channel, and channels last may be faster.

    The sign is not certain: of seven networks on an RTX 3090 all gained ×1.15 to ×1.47 under bf16 or fp16
    (timm), others report losses (PyTorch issue 50036). So the range is wide, and measuring decides.
    """
    profile = inputs.profile
    if profile is None or inputs.settings.memory_format != "channels_first" or model.work_ms is None:
        return None
    convolution_ms = kind_ms(profile, "convolution") / max(profile.work_ms, 1e-9) * model.work_ms
    if convolution_ms < CONVOLUTION_SHARE * model.step_ms:
        return None
    half = inputs.settings.precision in ("bf16", "fp16")
    if not inputs.on_cpu and not half:
        return None
    copies_ms = kind_ms(profile, "copy") / max(profile.work_ms, 1e-9) * model.work_ms
    saved = Estimate(-0.1, 0.15, 0.35) if inputs.on_cpu else Estimate(0.0, 0.25, 0.4)
    after = between(
        *(
            model.step_ms - part * convolution_ms - max(part, 0) * copies_ms
            for part in (saved.low, saved.likely, saved.high)
        )
    )
    why = "convolutions are written for channels last; whether they are faster here, measuring tells"
    remedy = turn(inputs, "memory_format", "channels_last", gain(model.step_ms, after), why)
    if remedy is None:
        return None
    sentence = (
        f"Layout. Convolutions take {words.ms(convolution_ms)} of each {words.ms(model.step_ms)} step on "
        "images laid "
        "out channel by channel; channels last often suits them better."
    )
    evidence = [
        f"convolutions are {words.percent(convolution_ms / model.step_ms)} of the step",
        f"copies and transpositions {words.ms(copies_ms)}",
    ]
    return finding(LAYOUT, sentence, evidence, [remedy], saved.likely * convolution_ms, model.step_ms)


def recompiling(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the step is compiled or captured again and again, with nothing changed."""
    if inputs.preparations < COMPILATIONS:
        return None
    share = min(0.95, inputs.preparation_ms / 60e3)
    sentence = (
        f"Recompiling. The step was prepared anew {inputs.preparations} times within a minute, "
        f"{words.ms(inputs.preparation_ms)} in all, though nothing was changed."
    )
    evidence = [
        f"{words.percent(share)} of the last minute went into it; no rate counts it",
        f"batches of {inputs.settings.batch_size:,}: shapes that vary are compiled one by one",
    ]
    ratio = Estimate(1.0, 1 / (1 - 0.9 * share), 1 / (1 - share))
    remedies = [
        advise("keep shapes the same: drop_last, sequences padded to a few lengths", ratio),
        turn(inputs, "execution", "eager", None, "no compiling at all"),
    ]
    return finding(RECOMPILING, sentence, evidence, remedies, share * model.step_ms, model.step_ms)
