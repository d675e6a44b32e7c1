"""One step taken apart: what waits, what works, what it costs to start the work at all.

The parts are disjoint and sum to the step. On a GPU, time in which the device idles is given to the
host's waits first (input, copies), and what is left of it to starting the work; on a CPU the work's own
share comes from the operators' time. Where no burst was profiled, only the waits are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..timeline import Profile
from .estimate import Estimate, between, exactly
from .inputs import Inputs

CPU_OPERATOR_US = 1.8
"""One eager operation on a small tensor, where the probe has not said: 1-4 us were measured on several
CPUs with PyTorch 2.13."""
GPU_LAUNCH_US = 8.0
"""One eager launch, where the probe has not said: Holistic Trace Analysis takes 5-20 us as usual."""
INNER_SHARE = Estimate(0.4, 0.8, 1.4)
"""What an operator costs at the least however little it does, as a share of the probe's figure, which has
Python in it: from multi-layer perceptrons with batches of 8 to 32, whose work is next to none."""
CPU_BYTES_PER_S = 10e9
"""Memory bandwidth of a CPU, read plus written, where the probe has not said."""
PASSES_OVER_WEIGHTS = 14
"""How often a step reads or writes an array of the weights' size: forward, backward, gradients, optimizer."""
SMALLEST_KERNEL_US = 2.0
"""A kernel takes about so long however little it does: 1.5-2.5 us on the cards since Pascal."""
LATE_SHARE, READY_MS = 0.1, 0.2
"""Batches made ahead come too late where a step waits for its own as long as both; to take one that is ready
costs up to a few tenths of a millisecond by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepModel:
    """A step's wall time by what it goes into, all in ms."""

    step_ms: float
    input_ms: float
    """Waiting for the batch, while nothing else is done."""
    transfer_ms: float
    """Host-to-device copies that nothing overlaps."""
    work_ms: float | None
    """Kernels (on a CPU: operators) really running, copies left out; None without a burst."""
    starting: Estimate | None
    """Starting the work: launches, Python and dispatch that nothing overlaps."""
    launch_us: float
    launch_measured: bool
    """Whether that figure is the probe's."""
    launches: float | None
    late: bool = False
    """Whether batches are made ahead, on a GPU's host, and come too late: then the step goes at their pace,
    whatever else is made faster."""

    @property
    def starting_ms(self) -> float:
        """The likely figure; 0 where it is not known."""
        return 0.0 if self.starting is None else self.starting.likely

    @property
    def work_share(self) -> float | None:
        """Of the step."""
        return None if self.work_ms is None else self.work_ms / self.step_ms

    @property
    def waits_ms(self) -> float:
        """Input and copies together."""
        return self.input_ms + self.transfer_ms


def step_model(inputs: Inputs) -> StepModel:
    """The step of a window taken apart; `inputs.step` is there."""
    measured = inputs.ceilings.launch_us if inputs.ceilings is not None else None
    assumed_us = CPU_OPERATOR_US if inputs.on_cpu else GPU_LAUNCH_US
    # What disturbs the probe makes launches slower, never faster.
    noisy = inputs.ceilings is not None and inputs.ceilings.noisy
    launch_us = assumed_us if measured is None else measured.median
    if measured is not None and noisy:
        launch_us = min(measured.q25, 2 * assumed_us)
    on = _on_cpu if inputs.on_cpu else _on_gpu
    return on(inputs, launch_us, measured is not None)


def _on_cpu(inputs: Inputs, launch_us: float, measured: bool) -> StepModel:
    step_ms = inputs.step_ms
    input_ms = min(inputs.host_ms("data") or 0.0, step_ms)
    profile = inputs.profile
    work_ms = starting = None
    if profile is not None:
        share = min(1.0, profile.work_ms / profile.step_ms) if profile.step_ms else 1.0
        scale = share * step_ms / profile.work_ms if profile.work_ms else 1.0
        room_ms = step_ms - input_ms
        # Gathering a batch is done by operators too; those belong to the input.
        gathered_ms = min(input_ms, scale * sum(kind_ms(profile, name) for name in ("copy", "other")))
        work_ms = min(share * step_ms - gathered_ms, room_ms)
        least_ms = launch_us / 1e3

        def inside(part: float) -> float:
            return sum(min(kind.ms * scale, kind.count * part * least_ms) for kind in profile.work.values())

        between_ms = room_ms - work_ms
        starting = Estimate(*(inside(p) for p in (INNER_SHARE.low, INNER_SHARE.likely, INNER_SHARE.high)))
        starting = starting.plus(between_ms).at_most(room_ms)
        work_ms = room_ms - starting.likely
    return StepModel(
        step_ms=step_ms,
        input_ms=input_ms,
        transfer_ms=0.0,
        work_ms=work_ms,
        starting=starting,
        launch_us=launch_us,
        launch_measured=measured,
        launches=None if profile is None else profile.launches,
    )


def kind_ms(profile: Profile, *names: str) -> float:
    """What kinds of work took together."""
    return sum(kind.ms for name, kind in profile.work.items() if name in names)


def _on_gpu(inputs: Inputs, launch_us: float, measured: bool) -> StepModel:
    step_ms = inputs.step_ms
    waited_ms = inputs.host_ms("data") or 0.0
    copied_ms = inputs.host_ms("h2d") or 0.0
    profile = inputs.profile
    if profile is None or not profile.step_ms:
        input_ms = min(waited_ms, step_ms)
        return StepModel(
            step_ms=step_ms,
            input_ms=input_ms,
            transfer_ms=min(copied_ms, step_ms - input_ms),
            work_ms=None,
            starting=None,
            launch_us=launch_us,
            launch_measured=measured,
            launches=None,
        )
    scale = step_ms / profile.step_ms
    busy_ms = min(profile.work_ms * scale, step_ms)
    exposed_ms = min((profile.copy_exposed_ms or 0.0) * scale, busy_ms)
    idle_ms = step_ms - busy_ms
    input_ms = min(waited_ms, idle_ms)
    # The host copies to a staging buffer first where memory is pageable: the device idles meanwhile.
    staging_ms = min(max(0.0, copied_ms - exposed_ms), idle_ms - input_ms)
    left_ms = idle_ms - input_ms - staging_ms
    return StepModel(
        step_ms=step_ms,
        input_ms=input_ms,
        transfer_ms=exposed_ms + staging_ms,
        work_ms=busy_ms - exposed_ms,
        starting=exactly(left_ms),
        launch_us=launch_us,
        launch_measured=measured,
        launches=profile.launches,
        late=_is_late(inputs, input_ms),
    )


def _is_late(inputs: Inputs, waited_ms: float) -> bool:
    settings = inputs.settings
    ahead = settings.data_path == "prefetch" or (settings.data_path == "loader" and settings.workers > 0)
    return ahead and waited_ms >= max(LATE_SHARE * inputs.step_ms, READY_MS)


# ------------------------------------------------------------------------ predictions


def with_batch(inputs: Inputs, model: StepModel, factor: float) -> Estimate | None:
    """A step's ms with a batch `factor` times as large: t(b) = a + c*b.

    From sizes tried in this session where there are others; else a is the cost of starting the work.
    """
    fitted = _fitted(inputs, factor)
    if fitted is not None:
        return fitted
    if model.starting is None or model.work_ms is None:
        return None
    if inputs.on_cpu:
        fixed = model.starting.plus(_of_weights_ms(inputs, model)).at_most(0.97 * model.step_ms)
        # What a larger batch does to caches and vector lengths goes either way.
        grown = [
            fixed_ms + (model.step_ms - fixed_ms) * factor
            for fixed_ms in (fixed.high, fixed.likely, fixed.low)
        ]
        return between(0.93 * grown[0], grown[1], 1.1 * grown[2])
    return _beside_host(inputs, model, factor).plus(model.waits_ms * factor)


def _of_weights_ms(inputs: Inputs, model: StepModel) -> Estimate:
    """On a CPU, time beyond starting that a step spends on its weights, whatever the batch.

    The optimizer goes through all of them, and each product reads its own from memory: forward, backward
    and for their gradients.
    """
    profile, workload = inputs.profile, inputs.workload
    if profile is None or model.starting is None or not profile.work_ms:
        return exactly(0.0)
    scale = min(1.0, profile.work_ms / profile.step_ms) * model.step_ms / profile.work_ms

    def beyond(kind: str) -> float:
        one = profile.work.get(kind)
        return 0.0 if one is None else max(0.0, one.ms * scale - one.count * inner_us / 1e3)

    inner_us = INNER_SHARE.likely * model.launch_us
    updating = beyond("optimizer")
    parameters = None if workload is None else workload.parameters
    if parameters is None:
        return exactly(updating)
    passes = 3 if inputs.settings.passes == "training" else 1
    moved = 4.0 * parameters * passes * inputs.settings.models_at_once
    reading = moved / _memory_bytes_per_s(inputs) * 1e3
    products = beyond("matmul") + beyond("recurrence")
    # With few samples a product reads weights at less than the rate of a plain copy.
    likely = updating + min(2 * reading, 0.8 * products)
    return Estimate(updating, likely, max(likely, updating + min(4 * reading, 0.95 * products)))


def with_models(inputs: Inputs, model: StepModel, count: int) -> Estimate | None:
    """A step's ms with `count` times as many models: their operations are started once, for all.

    The range is what stacking small networks cost when measured: the products of a stack take about what
    they take alone, every model's weights come on top of them, and a few operations come with it.
    """
    if model.starting is None or model.work_ms is None:
        return None
    if inputs.on_cpu:
        fixed, work_ms = model.starting, model.work_ms
        least_ms = _weights_of_a_model_ms(inputs)
        grown = [
            model.waits_ms
            + fixed_ms * more
            + ((model.step_ms - model.waits_ms - fixed_ms) * slower + least_ms * part) * count
            for fixed_ms, more, slower, part in (
                (fixed.high, 1.0, 0.7, 0.5),
                (fixed.likely, 1.15, 0.9, 1.0),
                (fixed.low, 1.4, 1.5, 2.0),
            )
        ]
        return between(*grown).at_least(work_ms)
    return _beside_host(inputs, model, count).plus(model.waits_ms)


def _weights_of_a_model_ms(inputs: Inputs) -> float:
    """On a CPU, what each model costs beside its samples: its weights, gradients and optimizer state go
    through memory once they are too many, all together, for a cache."""
    workload = inputs.workload
    if workload is None or workload.parameters is None:
        return 0.0
    passes = PASSES_OVER_WEIGHTS if inputs.settings.passes == "training" else 1
    return 4.0 * workload.parameters * passes / _memory_bytes_per_s(inputs) * 1e3


def _memory_bytes_per_s(inputs: Inputs) -> float:
    rate = inputs.ceilings.memory_bytes_per_s if inputs.ceilings is not None else None
    return CPU_BYTES_PER_S if rate is None else rate.median


def as_graph(inputs: Inputs, model: StepModel) -> Estimate | None:
    """A step's ms when its kernels are replayed from a CUDA graph: nothing is started one by one."""
    if model.work_ms is None or model.launches is None:
        return None
    figure = inputs.ceilings.graph_launch_us if inputs.ceilings is not None else None
    each_ms = (figure.median if figure is not None else SMALLEST_KERNEL_US) / 1e3
    floor_ms = model.launches * each_ms
    replay_ms = 0.015
    likely = max(model.work_ms, floor_ms) + replay_ms
    high = 1.15 * (model.work_ms + 0.5 * floor_ms) + 2 * replay_ms
    return between(max(model.work_ms, 0.8 * floor_ms), likely, max(high, likely)).plus(model.waits_ms)


def _beside_host(inputs: Inputs, model: StepModel, factor: float) -> Estimate:
    """Host and device side by side on a GPU: the host starts as much as before, the device does more."""
    assert model.work_ms is not None and model.starting is not None
    host_ms = model.work_ms + model.starting.likely
    if model.starting.likely < 0.1 * model.step_ms:
        host_ms = min(host_ms, inputs.step.dispatch_ms or host_ms) if inputs.step else host_ms
    least_ms = min(model.work_ms, (model.launches or 0.0) * SMALLEST_KERNEL_US / 1e3)
    # Kernels too small for the card do not grow until they fill it.
    grown = Estimate(
        least_ms + (model.work_ms - least_ms) * max(1.0, 0.4 * factor),
        least_ms + (model.work_ms - least_ms) * factor * (0.8 if factor > 1 else 1.0),
        model.work_ms * factor,
    )
    return grown.at_least(host_ms)


def _fitted(inputs: Inputs, factor: float) -> Estimate | None:
    now = inputs.settings
    points = {
        one.settings.batch_size: one.step_ms
        for one in inputs.measured
        if one.settings.with_value("batch_size", now.batch_size) == now
    }
    points[now.batch_size] = inputs.step_ms
    wanted = now.batch_size * factor
    if len(points) < 2 or not 0.25 * min(points) <= wanted <= 4 * max(points):
        return None
    fixed_ms, per_sample_ms = line(list(points.items()))
    likely = max(fixed_ms, 0.0) + max(per_sample_ms, 0.0) * wanted
    return Estimate(0.9 * likely, likely, 1.12 * likely)


def line(points: list[tuple[int, float]]) -> tuple[float, float]:
    """Intercept and slope of the least-squares line through at least two different sizes."""
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    across = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / across
    return mean_y - slope * mean_x, slope
