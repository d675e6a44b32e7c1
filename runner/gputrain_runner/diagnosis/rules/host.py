"""Rules of the host's processor: threads, other programs, noise, our own cost."""

from __future__ import annotations

from ...timeline import Finding, Remedy
from .. import words
from ..estimate import Estimate, between, gain
from ..inputs import Inputs
from ..remedies import advise, turn
from ..step_model import StepModel, kind_ms
from .device_work import PRODUCTS
from .names import CPU_SHARED, NOISY, OVERHEAD, OVERSUBSCRIBED, SINGLE_CORE
from .rule import finding

OVERSUBSCRIBED_BY = 1.5
"""Threads and loader processes for each core that they may use."""
FOREIGN_CORES = 0.3
"""Cores' worth of other programs from which on they are worth telling."""
FULL = 0.9
"""Share of all cores in use from which on programs take time from one another."""
SPREAD = 0.10
"""Interquartile range over median; p95 of the steps over their median."""
TAIL = 1.5
OVERHEAD_SHARE = 0.01


def cpu_oversubscribed(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where more threads and processes want to run than there are cores."""
    cores, threads = inputs.cores, inputs.settings.threads
    workers = inputs.settings.workers if inputs.settings.data_path == "loader" else 0
    if cores is None or threads is None:
        return None
    wanted = (threads if inputs.on_cpu else 1) + workers
    if wanted <= OVERSUBSCRIBED_BY * cores or wanted < 3:
        return None
    crowd = wanted / cores
    sentence = (
        f"CPU oversubscribed. {wanted} threads and processes share {words.cores(cores)}: they wait for one "
        "another "
        "at the end of every operation."
    )
    used = None if inputs.host is None else inputs.host.worker_cpu_utilisation
    evidence = [
        f"{threads} threads"
        + (f" and {workers} loader workers" if workers else "")
        + f" on {cores} usable cores",
        f"the worker uses {words.cores(used)}" if used is not None else None,
    ]
    # Two cores gave x2.4 to x3 for 8 threads back to 2: waiting costs less than taking turns would.
    saved = Estimate(1 - 1 / max(1.0, 0.35 * crowd), 1 - 1 / max(1.1, 0.7 * crowd), 1 - 1 / (2 * crowd))
    ratio = gain(
        model.step_ms,
        between(*(model.step_ms * (1 - part) for part in (saved.low, saved.likely, saved.high))),
    )
    remedies: list[Remedy | None] = []
    if inputs.on_cpu and threads > cores:
        remedies.append(turn(inputs, "threads", cores, ratio, "one thread for each core"))
    if workers > max(1, cores - 1):
        remedies.append(
            turn(inputs, "workers", max(1, cores - 1), ratio, "processes beyond the cores only take turns")
        )
    slice_ms = saved.likely * model.step_ms
    return finding(OVERSUBSCRIBED, sentence, evidence, remedies, slice_ms, model.step_ms)


def single_core_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where training on a CPU uses fewer threads than there are cores, on work that can be split."""
    cores, threads, profile = inputs.cores, inputs.settings.threads, inputs.profile
    if not inputs.on_cpu or cores is None or threads is None or threads >= cores or profile is None:
        return None
    if model.work_ms is None or (inputs.foreign_cores or 0.0) > cores - threads - 0.5:
        return None
    products_ms = min(kind_ms(profile, *PRODUCTS) / max(profile.work_ms, 1e-9), 1.0) * model.work_ms
    faster = _threads_faster(inputs, threads, cores)
    split = between(products_ms * 0.6, 0.5 * (products_ms + model.work_ms), model.work_ms)
    after = between(
        model.step_ms - split.high * (1 - 1 / faster.high),
        model.step_ms - split.likely * (1 - 1 / faster.likely),
        model.step_ms - split.low * (1 - 1 / faster.low),
    )
    slice_ms = model.step_ms - after.likely
    if slice_ms < 0.1 * model.step_ms:
        return None
    one = "One core computes" if threads == 1 else f"{threads} cores compute"
    sentence = (
        f"{one} while {cores - threads} more could: PyTorch is told to use {threads} "
        f"thread{'s' if threads > 1 else ''}."
    )
    used = None if inputs.host is None else inputs.host.worker_cpu_utilisation
    evidence = [
        f"threads {threads}, usable cores {cores}",
        f"the worker uses {words.cores(used)}" if used is not None else None,
        f"{words.ms(split.likely)} of the step are operations large enough to be split",
    ]
    why = "large operations are split over the cores"
    remedies = [turn(inputs, "threads", cores, gain(model.step_ms, after), why)]
    return finding(SINGLE_CORE, sentence, evidence, remedies, slice_ms, model.step_ms)


def _threads_faster(inputs: Inputs, threads: int, wanted: int) -> Estimate:
    """How much faster products are with more threads: the probe's, or nearly as many times as there are."""
    rates = inputs.ceilings.matmul_threads_flops_per_s if inputs.ceilings is not None else {}
    now, then = rates.get(str(threads)), rates.get(str(wanted))
    if now is not None and then is not None:
        measured = max(1.0, then.median / now.median)
        return Estimate(1 + 0.6 * (measured - 1), 1 + 0.9 * (measured - 1), measured)
    times = wanted / threads
    return Estimate(times**0.4, times**0.8, times)


def cpu_shared(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where other programs use the cores that training wants."""
    cores, foreign, host = inputs.cores, inputs.foreign_cores, inputs.host
    used = None if host is None else host.worker_cpu_utilisation
    if (
        cores is None
        or foreign is None
        or used is None
        or foreign < FOREIGN_CORES
        or used + foreign < FULL * cores
    ):
        return None
    workers = inputs.settings.workers if inputs.settings.data_path == "loader" else 0
    wanted = min(cores, (inputs.settings.threads or 1 if inputs.on_cpu else 1) + workers)
    # Who waits for a batch that is not there asks for no core.
    asked = wanted * (1 - model.input_ms / model.step_ms) if inputs.on_cpu else wanted
    missing = max(0.0, min(asked - used, foreign))
    if missing < 0.1:
        return None
    lost_ms = model.step_ms * missing / asked
    sentence = (
        f"The CPU is shared. Other programs use {words.cores(foreign)} of {cores}, and training gets "
        f"{words.cores(used)} where it could use {wanted}."
    )
    evidence = [f"other programs {words.cores(foreign)}, the worker {words.cores(used)}"]
    left_ms = model.step_ms - lost_ms
    alone = gain(model.step_ms, between(0.8 * left_ms, left_ms, model.step_ms))
    remedies: list[Remedy | None] = [advise("end or move what else runs here", alone)]
    free = max(1, round(cores - foreign))
    if inputs.on_cpu and (inputs.settings.threads or 1) > free:
        ratio = Estimate(0.9, 1.1, 1.8)
        remedies.append(
            turn(inputs, "threads", free, ratio, "threads that wait for a core hold up all others")
        )
    return finding(CPU_SHARED, sentence, evidence, remedies, lost_ms, model.step_ms)


def noisy(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where steps differ much from one another under the same settings."""
    step = inputs.step
    if step is None:
        return None
    tail = step.p95_ms / step.p50_ms if step.p50_ms else 1.0
    if (step.spread or 0.0) < SPREAD and tail < TAIL:
        return None
    sentence = (
        f"Noisy. The rate varies by {words.percent(step.spread or 0.0)} around its median, and one step in "
        f"twenty takes {words.ms(step.p95_ms)} or more where half of them take {words.ms(step.p50_ms)}."
    )
    foreign = inputs.foreign_cores
    evidence = [
        f"other programs use {words.cores(foreign)}"
        if foreign is not None and foreign > FOREIGN_CORES
        else None,
        "gains smaller than that cannot be told from chance",
    ]
    remedies = [advise("end what else runs here; on a laptop or a shared machine, measure longer")]
    return finding(NOISY, sentence, evidence, remedies, max(0.0, step.step_ms - step.p50_ms), model.step_ms)


def own_overhead(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where this program itself takes more than a hundredth of what training could have."""
    host, cores = inputs.host, inputs.cores
    if host is None or cores is None:
        return None
    own = host.screen_cpu_utilisation or 0.0
    used = (host.worker_cpu_utilisation or 0.0) + (inputs.foreign_cores or 0.0) + own
    takes = own / cores if used >= FULL * cores else 0.0
    driver = (host.nvml_ms_per_s or 0.0) / 1e3
    share = max(takes, driver)
    if share < OVERHEAD_SHARE:
        return None
    sentence = f"This program itself takes about {words.percent(share)} of what training could have."
    evidence = [
        f"its screen uses {words.cores(own)} while all cores are busy" if takes else None,
        f"it spends {words.ms(host.nvml_ms_per_s or 0.0)} of each second in the driver, which shares a lock "
        "with training"
        if driver >= OVERHEAD_SHARE
        else None,
    ]
    ratio = Estimate(1.0, 1 / (1 - share), 1 / (1 - min(0.9, 2 * share)))
    remedies = [advise("train without the screen: gputrain-tui run", ratio)]
    return finding(OVERHEAD, sentence, evidence, remedies, share * model.step_ms, model.step_ms)
