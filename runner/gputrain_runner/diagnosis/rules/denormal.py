"""The rule of numbers too small for the processor's fast arithmetic: denormals, on a CPU.

Below about 1e-38 a processor computes in microcode. What that slows down differs: matrix products by ×40 and
×50 were reported on Intel (PyTorch issues 21734 and 19651); on AMD's Zen products stay fast, and square
roots, as Adam takes them of vanishing squares, were measured ×50 to ×115 slower.
"""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding
from .. import words
from ..estimate import between, gain
from ..inputs import Inputs
from ..remedies import advise
from ..step_model import StepModel
from .device_work import PRODUCTS
from .host import FOREIGN_CORES
from .names import DENORMALS
from .parts import least_optimizer_ms
from .rule import finding

SLOW_FACTOR = 5.0
"""Times what FLOPs or bytes explain, from which on operations are not merely inefficient."""
SLOW_UPDATE_FACTOR = 4.0
"""The same of an optimizer's update, whose bytes are known well."""
SLOWER_THAN_BEFORE = 3.0
"""Times what the same step took earlier in the session, with nothing else on the cores."""
LARGE_PRODUCT_FLOPS = 2e6
"""A product of 100 x 100 by 100 x 100; smaller ones are slow for other reasons."""
LEAST_FLOPS_PER_THREAD = 10e9
"""fp32 products of one core where the probe has not said: less than any 64-bit CPU of the last ten years."""
_WHY = "torch.set_flush_denormal(True) in the training process, or weights and gradients that do not vanish"


def denormals(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where operations take many times what FLOPs and bytes explain, other programs aside."""
    threads, cores = inputs.settings.threads or 1, inputs.cores
    if not inputs.on_cpu or inputs.step is None or (inputs.foreign_cores or 0.0) > FOREIGN_CORES:
        return None
    if inputs.settings.precision != "fp32" or (cores is not None and threads > cores):
        return None
    for look in (_in_products, _in_optimizer, _since_before):
        told = look(inputs, model)
        if told is not None:
            lost_ms, sentence, evidence = told
            after = between(model.step_ms - lost_ms, model.step_ms - 0.8 * lost_ms, model.step_ms)
            alone = "no other program uses the cores" if inputs.foreign_cores is not None else None
            remedies = [advise(_WHY, gain(model.step_ms, after))]
            return finding(DENORMALS, sentence, [evidence, alone], remedies, lost_ms, model.step_ms)
    return None


_Told = tuple[float, str, str]
"""The ms lost, the sentence, the evidence."""


def _in_products(inputs: Inputs, model: StepModel) -> _Told | None:
    profile, step = inputs.profile, inputs.step
    if profile is None or step is None or not step.flops_per_s:
        return None
    products = [kind for name, kind in profile.work.items() if name in PRODUCTS]
    took_ms, count = sum(kind.ms for kind in products), sum(kind.count for kind in products)
    flops = step.flops_per_s * step.step_ms / 1e3
    if not count or flops / count < LARGE_PRODUCT_FLOPS:
        return None
    threads = inputs.settings.threads or 1
    rate = _product_rate(inputs, threads)
    expected_ms = flops / rate * 1e3
    if took_ms < SLOW_FACTOR * expected_ms:
        return None
    hedge = about(inputs.ceilings)
    lost_ms = (took_ms - 2 * expected_ms) / max(profile.work_ms, took_ms) * (model.work_ms or took_ms)
    sentence = (
        f"Numbers too small for the processor, it seems. Matrix products take {words.ms(took_ms)} a step "
        "where "
        f"their {words.significant(flops / 1e9)} GFLOP explain {hedge}{words.ms(expected_ms)}: "
        "denormal numbers, below about "
        "1e-38, are computed up to a hundred times more slowly."
    )
    evidence = (
        f"{words.flops(flops / took_ms * 1e3)} in products, "
        f"{hedge}{words.flops(rate)} are usual on so many threads"
    )
    return lost_ms, sentence, evidence


def _in_optimizer(inputs: Inputs, model: StepModel) -> _Told | None:
    workload = inputs.workload
    took_ms, least_ms = inputs.host_ms("optimizer"), least_optimizer_ms(inputs)
    if workload is None or took_ms is None or least_ms is None or took_ms < 0.2 * model.step_ms:
        return None
    kind = None if inputs.profile is None else inputs.profile.work.get("optimizer")
    operations = 0.0 if kind is None else kind.count
    expected_ms = 1.3 * least_ms + 2 * operations * model.launch_us / 1e3
    if kind is None or took_ms < SLOW_UPDATE_FACTOR * expected_ms:
        return None
    hedge = about(inputs.ceilings)
    sentence = (
        f"Numbers too small for the processor, it seems. {workload.optimizer} takes {words.ms(took_ms)} a "
        "step for "
        f"{words.count(workload.parameters or 0)} weights, {hedge}{words.ms(expected_ms)} would be usual: "
        "square roots and "
        "quotients of denormal numbers, below about 1e-38, take up to a hundred times as long."
    )
    evidence = (
        f"reading and writing the weights and their moments takes {hedge}{words.ms(least_ms)}, "
        f"{words.count(operations)} operations"
    )
    return took_ms - expected_ms, sentence, evidence


def _since_before(inputs: Inputs, model: StepModel) -> _Told | None:
    before_ms = inputs.fastest_ms
    if before_ms is None or model.step_ms < SLOWER_THAN_BEFORE * before_ms or inputs.foreign_cores is None:
        return None
    if model.input_ms > 0.3 * model.step_ms:
        return None
    sentence = (
        f"The same step has become {words.ratio(model.step_ms / before_ms)} as long, {words.ms(before_ms)} "
        "before "
        f"and {words.ms(model.step_ms)} now, though no setting was turned. Most often numbers have vanished "
        "below "
        "about 1e-38, where a processor is slow; or its clock is held back."
    )
    return (
        model.step_ms - before_ms,
        sentence,
        f"{words.ms(before_ms)} earlier in this session under the same settings",
    )


def _product_rate(inputs: Inputs, threads: int) -> float:
    if inputs.ceilings is not None:
        rates = inputs.ceilings.matmul_threads_flops_per_s
        measured = rates.get(str(threads)) or rates.get("1") or inputs.ceilings.matmul_flops_per_s.get("fp32")
        if measured is not None:
            return measured.median
    return LEAST_FLOPS_PER_THREAD * min(threads, inputs.cores or threads)
