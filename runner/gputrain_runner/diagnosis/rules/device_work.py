"""Rules of the work itself: grid too small, bandwidth, compute, tensor cores."""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding, Profile, Remedy
from .. import words
from ..estimate import Estimate, between, gain
from ..inputs import Inputs
from ..remedies import advise, more_models, turn
from ..step_model import StepModel, kind_ms
from .names import BANDWIDTH, COMPUTE, GRID, TENSOR_CORES
from .rule import finding

BUSY_SHARE = 0.8
"""From here on a GPU has always something to run."""
SMALL_GRID = 0.5
"""SM activity below which kernels are too small for the card."""
WORK_SHARE = 0.6
"""Work as a share of the step, from which on it is what limits."""
DRAM_ACTIVE = 0.6
TENSOR_ACTIVE = 0.5
"""XProf: memory-bound from 70 % of the bandwidth with the matrix units below 50 %; a driver's mean over
a step with gaps reads lower."""
ELIGIBLE_SHARE = 0.3
TENSOR_SHARE = 0.05
"""Of the time in matrix products and convolutions; the PyTorch TensorBoard plugin tells of any idle ones."""
TENSOR_CORES_SINCE = (7, 0)
TF32_SINCE = (8, 0)
PRODUCTS = ("matmul", "convolution", "recurrence")
THIN = ("elementwise", "normalisation", "reduction", "copy", "optimizer", "other")
"""Kinds that read and write each number once or twice: bandwidth decides how long they take."""


FUSIBLE = ("elementwise", "normalisation", "reduction", "copy")
LEAST_PRODUCT_FLOPS = 30e6
"""Of a matrix product on a CPU: below it bf16 gave between x0.8 and x1.2, for its operands are cast first."""


def grid_too_small(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where kernels follow one another without gaps, but fill less than half of the GPU."""
    sm_active = None if inputs.gpu is None else inputs.gpu.sm_active
    if inputs.on_cpu or sm_active is None or model.work_share is None:
        return None
    if model.work_share < BUSY_SHARE or sm_active >= SMALL_GRID:
        return None
    work_ms = model.work_ms or 0.0
    sentence = (
        f"Too little work at a time. Kernels run {words.percent(model.work_share)} of the step, but on "
        "average "
        f"only {words.percent(sm_active)} of the GPU's multiprocessors have any of it."
    )
    evidence = [f"SM activity {words.percent(sm_active)}", f"batches of {inputs.settings.batch_size:,}"]
    # What fits beside what runs already costs next to nothing, up to nine tenths.
    factor = 2 if sm_active > 0.3 else 4
    full_ms = model.step_ms - work_ms + work_ms * max(1.0, factor * sm_active / 0.9)
    after = between(full_ms * 0.9, full_ms * 1.15, full_ms * 1.6)
    size = inputs.settings.batch_size * factor
    remedies = [
        turn(
            inputs,
            "batch_size",
            size,
            gain(model.step_ms, after, factor),
            "larger kernels fill the card; it changes the training",
        ),
        more_models(inputs, model),
    ]
    return finding(GRID, sentence, evidence, remedies, work_ms * (1 - sm_active), model.step_ms)


def memory_bandwidth_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where most of the work reads and writes memory rather than computes."""
    profile = inputs.profile
    if profile is None or model.work_ms is None or (model.work_share or 0.0) < WORK_SHARE:
        return None
    share = _thin_share(profile)
    dram = None if inputs.gpu is None else inputs.gpu.dram_active
    tensor = None if inputs.gpu is None else inputs.gpu.tensor_active
    by_driver = dram is not None and dram >= DRAM_ACTIVE and (tensor or 0.0) < TENSOR_ACTIVE
    if not by_driver and (dram is not None or share < 0.5):
        return None
    slice_ms = share * model.work_ms
    sentence = (
        f"Memory-bandwidth-bound. {words.ms(slice_ms)} of each {words.ms(model.step_ms)} step go into "
        "operations "
        "that wait for memory: additions, activations, normalisation, the optimizer."
    )
    evidence = [
        f"{words.percent(share)} of the work is of that kind: {_largest(profile, THIN)}",
        f"the memory's bandwidth is in use {words.percent(dram)} of the time" if dram is not None else None,
    ]
    return finding(BANDWIDTH, sentence, evidence, _move_less(inputs, model, profile), slice_ms, model.step_ms)


def _move_less(inputs: Inputs, model: StepModel, profile: Profile) -> list[Remedy | None]:
    # A compiler fuses what the model does, not the optimizer's update.
    fusible_ms = kind_ms(profile, *FUSIBLE) / max(profile.work_ms, 1e-9) * (model.work_ms or 0.0)

    def without(low: float, likely: float, high: float) -> Estimate:
        """A part of that saved."""
        after = between(*(model.step_ms - part * fusible_ms for part in (low, likely, high)))
        return gain(model.step_ms, after)

    remedies: list[Remedy | None] = []
    if inputs.settings.execution == "eager" and inputs.settings.passes == "training":
        fused = without(-0.1, 0.2, 0.6) if inputs.on_cpu else without(0.0, 0.3, 0.6)
        remedies.append(
            turn(
                inputs,
                "execution",
                "compiled",
                fused,
                "fused operations read and write once instead of many times",
            )
        )
    if not inputs.on_cpu:
        half = without(0.1, 0.35, 0.5)
        remedies.append(
            turn(inputs, "precision", "bf16", half, "numbers of half the size; it changes the arithmetic")
        )
    return remedies


def compute_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the step is matrix products and convolutions, one after another: as it should be."""
    profile = inputs.profile
    if profile is None or model.work_ms is None or (model.work_share or 0.0) < WORK_SHARE:
        return None
    share = 1 - _thin_share(profile)
    if share < 0.5:
        return None
    slice_ms = share * model.work_ms
    of_ceiling = _of_ceiling(inputs)
    device = "CPU" if inputs.on_cpu else "GPU"
    sentence = (
        f"Compute-bound, as it should be. The {device} works {words.percent(model.work_share or 0.0)} of "
        "the step, "
        f"and {words.percent(share)} of that is matrix products and convolutions."
    )
    rate = inputs.step.flops_per_s if inputs.step else None
    evidence = [
        f"{_largest(profile, PRODUCTS)}",
        f"{words.flops(rate)}"
        + (
            f", {about(inputs.ceilings)}{words.percent(of_ceiling)} of what plain matrix products reach here"
            if of_ceiling
            else ""
        )
        if rate
        else None,
        "above 100 % is possible: some convolutions need fewer multiplications than the formula counts"
        if of_ceiling and of_ceiling > 1
        else None,
    ]
    remedies = [*_compute_faster(inputs, model), advise("a smaller network, or a faster device")]
    return finding(COMPUTE, sentence, evidence, remedies, slice_ms, model.step_ms)


def _compute_faster(inputs: Inputs, model: StepModel) -> list[Remedy | None]:
    """Lower precision, by what the probe found it to be worth."""
    remedies: list[Remedy | None] = []
    ceilings = inputs.ceilings.matmul_flops_per_s if inputs.ceilings is not None else {}
    now = ceilings.get(inputs.settings.precision)
    for precision in ("tf32", "bf16"):
        there = ceilings.get(precision)
        if inputs.on_cpu and _product_flops(inputs) < LEAST_PRODUCT_FLOPS:
            continue
        if now is None or there is None or there.median < 1.2 * now.median:
            continue
        faster = there.median / now.median
        remedies.append(
            turn(inputs, "precision", precision, _in_precision(inputs, model, faster), _why(precision))
        )
    return remedies


def tensor_cores_idle(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where a GPU has tensor cores and its matrix products do without."""
    profile, capability = inputs.profile, inputs.capability
    if profile is None or capability is None or capability < TENSOR_CORES_SINCE or model.work_ms is None:
        return None
    products_ms = kind_ms(profile, *PRODUCTS)
    used_ms = profile.tensor_core_ms
    if (
        used_ms is None
        or products_ms < ELIGIBLE_SHARE * profile.work_ms
        or used_ms > TENSOR_SHARE * products_ms
    ):
        return None
    if products_ms < 0.15 * profile.step_ms or inputs.settings.precision in ("bf16", "fp16"):
        return None
    slice_ms = products_ms / profile.work_ms * model.work_ms
    sentence = (
        f"Tensor cores idle. {words.ms(slice_ms)} of each {words.ms(model.step_ms)} step are matrix "
        "products and "
        f"convolutions, all on the ordinary units: {inputs.settings.precision} does not use the tensor cores."
    )
    evidence = [
        f"kernels on tensor cores run {words.ms(used_ms)} of {words.ms(products_ms)}",
        f"compute capability {capability[0]}.{capability[1]}",
    ]
    remedies = _compute_faster(inputs, model) or [
        turn(inputs, "precision", "tf32", _in_precision(inputs, model, 4.0), _why("tf32")),
        turn(inputs, "precision", "bf16", _in_precision(inputs, model, 6.0), _why("bf16")),
    ]
    if capability < TF32_SINCE:
        remedies = [turn(inputs, "precision", "fp16", _in_precision(inputs, model, 4.0), _why("fp16"))]
    return finding(TENSOR_CORES, sentence, evidence, remedies, slice_ms, model.step_ms)


def _in_precision(inputs: Inputs, model: StepModel, faster: float) -> Estimate:
    """Amdahl on the products' share; small products gain less than the probe's, and casts cost."""
    assert inputs.profile is not None and model.work_ms is not None
    share = kind_ms(inputs.profile, *PRODUCTS) / max(inputs.profile.work_ms, 1e-9)
    products_ms = min(1.0, share) * model.work_ms
    rest_ms = model.step_ms - products_ms
    casts_ms = 0.0 if inputs.settings.precision == "tf32" else 0.25 * model.starting_ms

    def after(part: float) -> float:
        return rest_ms + products_ms / (1 + (faster - 1) * part)

    return gain(model.step_ms, between(after(1.0), after(0.7) + 0.5 * casts_ms, after(0.2) + casts_ms))


def _product_flops(inputs: Inputs) -> float:
    """Of a matrix product, on the mean; 0 where it is not known."""
    rate = None if inputs.step is None else inputs.step.flops_per_s
    count = 0.0
    if inputs.profile is not None:
        count = sum(one.count for name, one in inputs.profile.work.items() if name in PRODUCTS)
    return 0.0 if rate is None or not count else rate * inputs.step_ms / 1e3 / count


def _why(precision: str) -> str:
    if precision == "tf32":
        return "matrix products on tensor cores, 10 bits of mantissa; it changes the arithmetic"
    return f"matrix products in {precision}, half the bytes; it changes the arithmetic"


def _of_ceiling(inputs: Inputs) -> float | None:
    rate = inputs.step.flops_per_s if inputs.step else None
    ceilings = inputs.ceilings
    if rate is None or ceilings is None:
        return None
    of = ceilings.matmul_flops_per_s.get(inputs.settings.precision)
    if inputs.on_cpu and inputs.settings.precision == "fp32":
        of = ceilings.matmul_threads_flops_per_s.get(str(inputs.settings.threads)) or of
    return None if of is None else rate / of.median


def _thin_share(profile: Profile) -> float:
    total = sum(kind.ms for kind in profile.work.values())
    return kind_ms(profile, *THIN) / total if total else 0.0


def _largest(profile: Profile, kinds: tuple[str, ...]) -> str:
    """`matmul 1.2 ms, elementwise 0.4 ms`."""
    told = [(name, kind.ms) for name, kind in profile.work.items() if name in kinds and kind.ms > 0]
    told.sort(key=lambda item: -item[1])
    return ", ".join(f"{name} {words.ms(took)}" for name, took in told[:3])
