"""Rules of the cost of starting work: launch-bound, new GPU no faster, slower than the CPU."""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding, Remedy
from .. import words
from ..estimate import Estimate, between, exactly, gain
from ..inputs import Inputs, Measured
from ..remedies import advise, larger_batch, more_models, turn
from ..step_model import StepModel, as_graph, kind_ms, line
from .names import LAUNCH, NEW_GPU, SLOWER_THAN_CPU
from .rule import finding

STARTING_SHARE = 0.15
"""Of a step on a GPU; XProf calls kernel launches of 15 % high."""
BUSY_SHARE = 0.70
"""Kernel-busy share above which a GPU is not waiting for the host in earnest."""
STARTING_SHARE_CPU = 0.25
"""On a CPU, where a part of it cannot be avoided."""
WORTH_COMPILING = 0.30
"""Share of elementwise work from which on a compiler finds something to fuse."""
NO_FASTER = 0.95
"""A GPU with this part of the other's step time or more has not paid."""


def launch_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where starting the work, and not the work, takes the time."""
    if model.starting is None or model.work_ms is None:
        return None
    return _on_cpu(inputs, model) if inputs.on_cpu else _on_gpu(inputs, model)


def _on_gpu(inputs: Inputs, model: StepModel) -> Finding | None:
    step_ms, work_ms, starting_ms = model.step_ms, model.work_ms or 0.0, model.starting_ms
    busy = (work_ms + model.transfer_ms) / step_ms
    if busy > BUSY_SHARE or starting_ms < STARTING_SHARE * step_ms or not model.launches:
        return None
    utilisation = None if inputs.gpu is None else inputs.gpu.utilisation
    dispatch_ms = inputs.step.dispatch_ms if inputs.step else None
    reported = (
        "" if utilisation is None else f", though its driver reports {words.percent(utilisation)} utilisation"
    )
    sentence = (
        f"Launch-bound. The host needs {words.ms(work_ms + starting_ms)} a step to queue "
        f"{words.count(model.launches)} kernels that run for {words.ms(work_ms)} in all: the GPU idles "
        f"{words.percent(1 - busy)} of the time{reported}."
    )
    span_ms = sum((inputs.step.device_ms if inputs.step else {}).values())
    evidence = [
        f"kernels run {words.percent(work_ms / step_ms)} of the step, {words.ms(work_ms / model.launches)} "
        "each on average",
        f"the spans between the GPU's own marks add up to {words.percent(min(1.0, span_ms / step_ms))} of "
        "the step: they contain the gaps"
        if span_ms > (work_ms + 0.2 * step_ms)
        else None,
        f"dispatch takes {words.ms(dispatch_ms)} of {words.ms(step_ms)}" if dispatch_ms else None,
        f"one launch costs {about(inputs.ceilings)}{model.launch_us:.1f} µs here"
        + ("" if model.launch_measured else " (assumed; the probe measures it)"),
        "a GPU twice as fast would still wait for the host: ×1.0, at most "
        f"{words.ratio(step_ms / (step_ms - work_ms / 2))}",
    ]
    if model.late:
        evidence.append("the batches come later still: only once they are there in time does this limit")
        return finding(LAUNCH, sentence, evidence, [], None, step_ms)
    return finding(LAUNCH, sentence, evidence, _fewer_launches(inputs, model), starting_ms, step_ms)


def _fewer_launches(inputs: Inputs, model: StepModel) -> list[Remedy | None]:
    graphed = as_graph(inputs, model)
    own_ms = model.step_ms - model.starting_ms
    compiled = between(
        max(own_ms, 0.35 * model.step_ms), max(own_ms, 0.65 * model.step_ms), 1.1 * model.step_ms
    )
    eager = inputs.settings.execution == "eager"
    return [
        turn(
            inputs,
            "execution",
            "graph",
            gain(model.step_ms, graphed),
            "one launch replays all kernels of the step (CUDA graph)",
        )
        if graphed is not None
        else None,
        turn(
            inputs,
            "execution",
            "compiled",
            gain(model.step_ms, compiled),
            "fused kernels are fewer; what it gives differs much from network to network",
        )
        if eager
        else None,
        more_models(inputs, model),
        larger_batch(inputs, model),
    ]


def _on_cpu(inputs: Inputs, model: StepModel) -> Finding | None:
    step_ms, starting_ms = model.step_ms, model.starting_ms
    if starting_ms < STARTING_SHARE_CPU * step_ms or not model.launches:
        return None
    per_us = starting_ms / model.launches * 1e3
    sentence = (
        f"Launch-bound. Of each {words.ms(step_ms)} step, {words.ms(starting_ms)} go into Python and into "
        f"starting {words.count(model.launches)} operations; computing takes "
        f"{words.ms(model.work_ms or 0.0)}."
    )
    evidence = [
        f"{words.percent(starting_ms / step_ms)} of the step is the price of starting operations, about "
        f"{per_us:.1f} µs each",
        f"batches of {inputs.settings.batch_size:,}: half the batch would take nearly as long",
        f"one operation on a tiny tensor costs {about(inputs.ceilings)}{model.launch_us:.1f} µs here"
        if model.launch_measured
        else None,
    ]
    remedies = [
        _compiled(inputs, model),
        _one_thread(inputs, model),
        more_models(inputs, model),
        larger_batch(inputs, model),
    ]
    if not any(remedies):
        remedies = [advise("fewer, larger operations: whole tensors instead of loops in Python")]
    return finding(LAUNCH, sentence, evidence, remedies, starting_ms, step_ms)


def _compiled(inputs: Inputs, model: StepModel) -> Remedy | None:
    """Only where there is much to fuse: calling compiled code costs about what a small network saves."""
    profile = inputs.profile
    if profile is None or not profile.work or inputs.settings.execution != "eager":
        return None
    fusible_ms = kind_ms(profile, "elementwise", "normalisation", "reduction")
    if fusible_ms < WORTH_COMPILING * sum(kind.ms for kind in profile.work.values()):
        return None
    saved_ms = fusible_ms * (model.work_ms or 0.0) / max(profile.work_ms, 1e-9)
    after = between(model.step_ms - 0.8 * saved_ms, model.step_ms - 0.25 * saved_ms, 1.15 * model.step_ms)
    return turn(
        inputs,
        "execution",
        "compiled",
        gain(model.step_ms, after),
        "fused loops; calling them costs something too",
    )


def _one_thread(inputs: Inputs, model: StepModel) -> Remedy | None:
    """Operations too small to be split gain nothing from threads, and waking those costs."""
    threads = inputs.settings.threads
    if threads is None or threads < 2 or model.starting_ms < 0.6 * model.step_ms:
        return None
    ratio = Estimate(0.95, 1.08, 1.8)
    return turn(inputs, "threads", 1, ratio, "operations this small are faster on one thread")


def new_gpu_no_faster(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the same work was measured on another GPU, whose ceilings are lower, in no more time."""
    if inputs.on_cpu or inputs.ceilings is None or model.work_ms is None:
        return None
    here = inputs.ceilings.matmul_flops_per_s.get("fp32")
    for other in inputs.measured:
        there = inputs.all_ceilings.get(other.settings.device)
        same = other.settings.with_value("device", inputs.settings.device) == inputs.settings
        if not same or there is None or other.settings.device == "cpu" or here is None:
            continue
        rate = there.matmul_flops_per_s.get("fp32")
        if rate is None or here.median < 1.2 * rate.median or model.step_ms < NO_FASTER * other.step_ms:
            continue
        return _no_faster(inputs, model, other, here.median / rate.median)
    return None


def _no_faster(inputs: Inputs, model: StepModel, other: Measured, faster: float) -> Finding:
    launches = model.launches or 0.0
    floor_ms = launches * model.launch_us / 1e3
    there = inputs.all_ceilings[other.settings.device]
    here_about, there_about = about(inputs.ceilings), about(there)
    other_floor = ""
    if there.launch_us is not None:
        other_floor = f", on the other {there_about}{words.ms(launches * there.launch_us.median / 1e3)}"
    sentence = (
        f"The faster GPU is no faster here: {words.ms(model.step_ms)} a step, {words.ms(other.step_ms)} on "
        f"{other.settings.device}, though its matrix products are "
        f"{here_about or there_about}{words.ratio(faster)} as fast."
    )
    evidence = [
        f"starting {words.count(launches)} kernels takes at least {here_about}{words.ms(floor_ms)} on this "
        f"one{other_floor}: the same floor under both",
        f"the kernels themselves run {words.ms(model.work_ms or 0.0)}",
    ]
    remedies = [
        *_fewer_launches(inputs, model),
        advise(f"for this work {other.settings.device} does as well", exactly(model.step_ms / other.step_ms)),
    ]
    return finding(NEW_GPU, sentence, evidence, remedies, model.starting_ms, model.step_ms)


def slower_than_cpu(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the same work was measured on the CPU, in no more time.

    Where both devices were tried at several batch sizes, the lines t(b) = a + c*b tell where they cross.
    """
    if inputs.on_cpu:
        return None
    cpu, gpu = _by_batch(inputs, on_cpu=True), _by_batch(inputs, on_cpu=False)
    size = inputs.settings.batch_size
    gpu[size] = model.step_ms
    if size not in cpu or gpu[size] < cpu[size]:
        return None
    ratio = gpu[size] / cpu[size]
    evidence = _compared(cpu, gpu, size)
    sentence = (
        f"Slower than the CPU. The same step takes {words.ratio(ratio)} as long on this GPU as on the CPU."
    )
    remedies = [
        turn(
            inputs,
            "device",
            "cpu",
            Estimate(0.95 * ratio, ratio, 1.05 * ratio),
            "at this size the CPU has no launches to wait for",
        ),
        *_fewer_launches(inputs, model),
    ]
    slice_ms = max(gpu[size] - cpu[size], model.starting_ms)
    return finding(SLOWER_THAN_CPU, sentence, evidence, remedies, slice_ms, model.step_ms)


def _compared(cpu: dict[int, float], gpu: dict[int, float], size: int) -> list[str]:
    """Both devices at this batch size, and where their lines cross."""
    evidence = [
        f"at this batch size a step takes {words.ms(gpu[size])} on the GPU and {words.ms(cpu[size])} on the "
        "CPU"
    ]
    if len(cpu) > 1 and len(gpu) > 1:
        (a1, c1), (a2, c2) = line(list(cpu.items())), line(list(gpu.items()))
        evidence.append(
            f"on the CPU {words.ms(max(a1, 0.0))} + {words.ms(c1)} a sample, on the GPU "
            f"{words.ms(max(a2, 0.0))} + {words.ms(c2)}"
        )
        if c1 > c2:
            evidence.append(f"the GPU overtakes at a batch of about {max(1, round((a2 - a1) / (c1 - c2))):,}")
    else:
        evidence.append("gputrain-tui crossover finds the batch or model size from which on the GPU wins")
    return evidence


def _by_batch(inputs: Inputs, *, on_cpu: bool) -> dict[int, float]:
    """Step times by batch size on the CPU or on this GPU, of the same work."""
    now = inputs.settings

    def same(one: Measured) -> bool:
        work = ("model_size", "passes", "models_at_once", "recurrence")
        device = "cpu" if on_cpu else now.device
        return one.settings.device == device and all(
            one.settings.value(each) == now.value(each) for each in work
        )

    fastest: dict[int, float] = {}
    for one in inputs.measured:
        if same(one):
            size = one.settings.batch_size
            fastest[size] = min(one.step_ms, fastest.get(size, one.step_ms))
    return fastest
