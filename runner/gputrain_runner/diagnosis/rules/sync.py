"""The rule of waits: synchronisation-bound."""

from __future__ import annotations

from ...timeline import Finding
from .. import words
from ..estimate import between, gain
from ..inputs import Inputs
from ..remedies import advise
from ..step_model import StepModel
from .names import SYNC
from .rule import finding

ONE_A_STEP = 0.5
"""Reading a value back this often, on average, is a habit of the step and not of a report."""
READ_COSTS = 2.5
"""On a CPU, of one operation's starting: the read itself, and picking out what is read."""
SHARE = 0.05
"""Of a step on a GPU; XProf's debug-print rule and the warning level of others."""


def synchronisation_bound(inputs: Inputs, model: StepModel) -> Finding | None:
    """Holds where each step waits for the device, or reads values back from it.

    On a GPU that stops the host from running ahead: host and device take turns, S = D + G, where they could
    run side by side, S = max(D, G). On a CPU there is nothing to wait for; the calls themselves cost.
    """
    profile = inputs.profile
    if profile is None or not profile.sync_count or profile.sync_count < ONE_A_STEP:
        return None
    per_step = words.count(profile.sync_count)
    times = "once" if per_step == "1" else f"{per_step} times"
    if inputs.on_cpu:
        each_us = model.launch_us * READ_COSTS
        lost_ms = max(profile.sync_ms or 0.0, profile.sync_count * each_us / 1e3)
        lost_ms = min(lost_ms, model.step_ms - model.input_ms)
        sentence = (
            f"Values are read back {times} in each step (.item() and its like), which takes about "
            f"{words.ms(lost_ms)} here; on a GPU it would make the host wait each time."
        )
        after = between(model.step_ms - 1.5 * lost_ms, model.step_ms - lost_ms, model.step_ms - 0.5 * lost_ms)
        evidence = [
            f"{per_step} values read back a step, {words.percent(lost_ms / model.step_ms)} of its time"
        ]
    else:
        dispatch_ms = (inputs.step.dispatch_ms if inputs.step else None) or model.step_ms
        work_ms = model.work_ms or 0.0
        waited_ms = profile.sync_ms or 0.0
        lost_ms = min(max(waited_ms, 0.0), work_ms, max(0.0, dispatch_ms - waited_ms), model.step_ms)
        if lost_ms < SHARE * model.step_ms and waited_ms < SHARE * model.step_ms:
            return None
        sentence = (
            f"Synchronisation-bound. The host stops {times} in each step to wait for the GPU "
            f"({words.ms(waited_ms)}), so that they take turns instead of working side by side."
        )
        after = between(model.step_ms - lost_ms, model.step_ms - 0.7 * lost_ms, model.step_ms)
        evidence = [
            f"{per_step} waits a step, {words.ms(waited_ms)} together",
            f"the GPU works {words.ms(work_ms)} of {words.ms(model.step_ms)}",
        ]
    why = (
        "keep values on the device and read them every hundredth step; no .item(), .cpu(), print in the step"
    )
    return finding(
        SYNC, sentence, evidence, [advise(why, gain(model.step_ms, after))], lost_ms, model.step_ms
    )
