"""Rules of the way from the data to the device: input-bound, transfer-bound.

Thresholds: 10 % of a step is worth telling, XProf's smart suggestions take the same (its overview 5 and
20 %, the PyTorch TensorBoard plugin 5 %).
"""

from __future__ import annotations

from ...ceilings import about
from ...timeline import Finding, Remedy
from .. import words
from ..estimate import Estimate, between, exactly, gain
from ..inputs import Inputs
from ..remedies import advise, turn
from ..step_model import StepModel
from .names import INPUT, TRANSFER
from .rule import finding

WAIT_SHARE = 0.10
WORKER_EFFICIENCY = Estimate(0.6, 0.85, 1.0)
"""What another loader process adds, of one's rate."""
GATHER_BYTES_PER_S = Estimate(0.5e9, 2e9, 8e9)
"""Rows of an array gathered in random order by one thread."""


def input_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where the step waits for its batch for a tenth of its time or more."""
    wait_ms, step_ms = model.input_ms, model.step_ms
    if wait_ms < WAIT_SHARE * step_ms:
        return None
    settings, host = inputs.settings, inputs.host
    path = settings.data_path
    idle = "the device waits meanwhile" if not inputs.on_cpu else "nothing is computed meanwhile"
    workers = f" with {settings.workers} workers" if path == "loader" else ""
    iowait = None if host is None else host.iowait
    evidence = [
        f"the host spends {words.ms(wait_ms)} of each {words.ms(step_ms)} step waiting for or putting "
        "together "
        f"the batch ({words.percent(wait_ms / step_ms)}); {idle}",
        f"data path {path}{workers}, batches of {settings.batch_size:,}",
        f"the cores wait for a disk {words.percent(iowait)} of the time"
        if iowait and iowait > 0.05
        else None,
    ]
    sentence = f"Input-bound. Each step waits {words.ms(wait_ms)} for its batch before anything is computed."
    return finding(INPUT, sentence, evidence, _feed_faster(inputs, model), wait_ms, step_ms)


def _feed_faster(inputs: Inputs, model: StepModel) -> list[Remedy | None]:
    settings = inputs.settings
    rest_ms = model.step_ms - model.input_ms
    in_memory = inputs.workload is None or inputs.workload.in_memory
    remedies: list[Remedy | None] = []
    gathered = _gathered_ms(inputs)
    if settings.data_path == "loader":
        remedies.append(_more_workers(inputs, model))
    if in_memory and settings.data_path == "loader" and gathered is not None:
        after = gathered.plus(_without_loaders(inputs, rest_ms))
        why = (
            "the data lie in memory: a whole batch is gathered at once, without processes and single samples"
        )
        remedies.append(turn(inputs, "data_path", "host", gain(model.step_ms, after), why))
    if settings.data_path in ("loader", "host", "pinned"):
        remedies.append(_ahead(inputs, model, rest_ms, gathered))
    if in_memory and not inputs.on_cpu:
        after = between(rest_ms - model.transfer_ms, rest_ms - model.transfer_ms + 0.03, rest_ms)
        why = "the whole data set lies on the device; a step gathers its batch there"
        remedies.append(turn(inputs, "data_path", "resident", gain(model.step_ms, after), why))
    if not any(remedies):
        why = "make a sample cheaper: decode or augment beforehand, in fewer and larger files"
        remedies.append(
            advise(
                why,
                Estimate(
                    1.0, model.step_ms / (rest_ms + model.input_ms / 2), model.step_ms / max(rest_ms, 1e-6)
                ),
            )
        )
    return remedies


def _without_loaders(inputs: Inputs, rest_ms: float) -> Estimate:
    """The rest of a step once loader processes no longer take turns with it on the same cores."""
    settings, cores = inputs.settings, inputs.cores
    if not inputs.on_cpu or cores is None or not settings.workers:
        return exactly(rest_ms)
    crowd = max(1.0, ((settings.threads or 1) + settings.workers) / cores)
    return between(rest_ms / crowd**1.5, rest_ms / crowd, rest_ms)


def _more_workers(inputs: Inputs, model: StepModel) -> Remedy | None:
    """k processes deliver a batch each load_ms / k; the step takes what is longer."""
    workers, cores = inputs.settings.workers, inputs.cores
    if inputs.on_cpu and cores is not None and (inputs.settings.threads or 1) + workers >= cores:
        return None  # There is no core for another process: it would take what computing has.
    if workers == 0:
        wanted = 1 if cores is None else max(1, min(2, cores - 1))
        load_ms = model.input_ms
    else:
        wanted = workers * 2
        load_ms = model.step_ms * workers
    if cores is not None and wanted > max(1, cores - 1):
        wanted = max(1, cores - 1)
    if wanted <= workers:
        return None
    rest_ms = model.step_ms - model.input_ms
    e = WORKER_EFFICIENCY
    after = between(
        *(
            max(rest_ms, load_ms / (workers + (wanted - workers) * share))
            if workers
            else max(rest_ms, load_ms / (wanted * share))
            for share in (e.low, e.likely, e.high)
        )
    )
    why = "more processes put batches together side by side"
    return turn(inputs, "workers", wanted, gain(model.step_ms, after), why)


def _ahead(inputs: Inputs, model: StepModel, rest_ms: float, gathered: Estimate | None) -> Remedy | None:
    """A thread that works ahead: gathering and computing overlap, where there is a core for it."""
    if inputs.cores is not None and inputs.cores < 2:
        return None
    load = Estimate(model.input_ms, model.input_ms, model.input_ms)
    if inputs.settings.data_path == "loader":
        if gathered is None:
            return None
        load = gathered
    copied_ms = model.transfer_ms
    slowed = 1.25 if inputs.on_cpu else 1.1
    after = between(
        max(rest_ms - copied_ms, load.low),
        max(rest_ms - 0.7 * copied_ms, load.likely) * (1 + (slowed - 1) / 2),
        max(rest_ms, load.high) * slowed,
    )
    why = "a thread gathers the next batches while this one is trained on"
    return turn(inputs, "data_path", "prefetch", gain(model.step_ms, after), why)


def _gathered_ms(inputs: Inputs) -> Estimate | None:
    """To gather a batch from arrays in memory."""
    sample_bytes = None if inputs.workload is None else inputs.workload.sample_bytes
    if sample_bytes is None:
        return None
    batch_bytes = sample_bytes * inputs.settings.batch_size
    rate = GATHER_BYTES_PER_S
    return between(*(0.02 + batch_bytes / each * 1e3 for each in (rate.low, rate.likely, rate.high)))


def transfer_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where copies to the device that nothing overlaps take a tenth of the step or more."""
    exposed_ms, step_ms = model.transfer_ms, model.step_ms
    if inputs.on_cpu or exposed_ms < WAIT_SHARE * step_ms:
        return None
    settings, profile = inputs.settings, inputs.profile
    batch_bytes = _batch_bytes(inputs)
    rate = None
    if batch_bytes and profile is not None and profile.copy_ms:
        rate = batch_bytes / profile.copy_ms * 1e3
    pinned = inputs.ceilings.h2d_pinned_bytes_per_s if inputs.ceilings is not None else None
    evidence = [
        f"{words.ms(exposed_ms)} of each {words.ms(step_ms)} step go into copying the batch while the GPU "
        f"computes nothing ({words.percent(exposed_ms / step_ms)})",
        f"{words.size(batch_bytes)} a step, data path {settings.data_path}" if batch_bytes else None,
        f"the copy runs at {words.size(rate)}/s"
        + (
            f", from pinned memory this link does {about(inputs.ceilings)}{words.size(pinned.median)}/s"
            if pinned
            else ""
        )
        if rate
        else None,
    ]
    sentence = (
        f"Transfer-bound. The GPU waits {words.ms(exposed_ms)} in each step for the batch to be copied to it."
    )
    return finding(TRANSFER, sentence, evidence, _copy_less(inputs, model, batch_bytes), exposed_ms, step_ms)


def _copy_less(inputs: Inputs, model: StepModel, batch_bytes: float | None) -> list[Remedy | None]:
    rest_ms = model.step_ms - model.transfer_ms
    resident_ms = between(rest_ms - model.input_ms, rest_ms - 0.8 * model.input_ms, rest_ms)
    overlapped = between(
        max(rest_ms - model.input_ms, model.transfer_ms * 0.5),
        max(rest_ms - 0.5 * model.input_ms, model.transfer_ms * 0.7),
        max(rest_ms, model.transfer_ms),
    )
    remedies = [
        turn(
            inputs,
            "data_path",
            "resident",
            gain(model.step_ms, resident_ms),
            "the whole data set lies on the GPU: nothing is copied in a step",
        ),
        turn(
            inputs,
            "data_path",
            "prefetch",
            gain(model.step_ms, overlapped),
            "copies run beside the computing, from pinned memory",
        ),
    ]
    pinned = inputs.ceilings.h2d_pinned_bytes_per_s if inputs.ceilings is not None else None
    if batch_bytes and pinned and inputs.settings.data_path in ("host", "loader"):
        copy_ms = batch_bytes / pinned.median * 1e3
        after = between(
            rest_ms + copy_ms * 0.9, rest_ms + copy_ms * 1.3, rest_ms + max(copy_ms * 1.5, model.transfer_ms)
        )
        remedies.append(
            turn(
                inputs,
                "data_path",
                "pinned",
                gain(model.step_ms, after),
                "from pinned memory the copy needs no staging",
            )
        )
    return remedies


def _batch_bytes(inputs: Inputs) -> float | None:
    profile = inputs.profile
    if profile is not None and profile.copy_bytes:
        return profile.copy_bytes
    if inputs.workload is None or inputs.workload.sample_bytes is None:
        return None
    return float(inputs.workload.sample_bytes * inputs.settings.batch_size)
