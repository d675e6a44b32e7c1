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
    on = _on_cpu if inputs.on_cpu else _on_gpu
    told = on(inputs, model, profile.sync_count, profile.sync_ms or 0.0)
    if told is None:
        return None
    lost_ms, left, sentence, evidence = told
    step_ms = model.step_ms
    after = between(*(step_ms - part * lost_ms for part in left))
    why = "keep values on the device, read them every hundredth step: no .item(), .cpu() or print in a step"
    return finding(SYNC, sentence, evidence, [advise(why, gain(step_ms, after))], lost_ms, step_ms)


_Told = tuple[float, tuple[float, float, float], str, list[str]]
"""The ms lost, the parts of them that may be saved, the sentence, the evidence."""


def _times(count: float) -> str:
    told = words.count(count)
    return "once" if told == "1" else f"{told} times"


def _on_cpu(inputs: Inputs, model: StepModel, count: float, waited_ms: float) -> _Told:
    lost_ms = max(waited_ms, count * model.launch_us * READ_COSTS / 1e3)
    lost_ms = min(lost_ms, model.step_ms - model.input_ms)
    sentence = (
        f"Values are read back {_times(count)} in each step (.item() and its like), which takes about "
        f"{words.ms(lost_ms)} here; on a GPU it would make the host wait each time."
    )
    evidence = [
        f"{words.count(count)} values read back a step, {words.percent(lost_ms / model.step_ms)} of its time"
    ]
    return lost_ms, (0.5, 0.9, 1.0), sentence, evidence


def _on_gpu(inputs: Inputs, model: StepModel, count: float, waited_ms: float) -> _Told | None:
    dispatch_ms = (inputs.step.dispatch_ms if inputs.step else None) or model.step_ms
    work_ms = model.work_ms or 0.0
    lost_ms = min(waited_ms, work_ms, max(0.0, dispatch_ms - waited_ms), model.step_ms)
    if max(lost_ms, waited_ms) < SHARE * model.step_ms:
        return None
    sentence = (
        f"Synchronisation-bound. The host stops {_times(count)} in each step to wait for the GPU "
        f"({words.ms(waited_ms)}), so that they take turns instead of working side by side."
    )
    evidence = [
        f"{words.count(count)} waits a step, {words.ms(waited_ms)} together",
        f"the GPU works {words.ms(work_ms)} of {words.ms(model.step_ms)}",
    ]
    return lost_ms, (0.0, 0.7, 1.0), sentence, evidence
