"""Would another card help? The same step on faster cards, from this window's work and the host's part in it.

Each kind of work is scaled by the published peaks of the card that trains and of the other one: products by
their arithmetic, all else by memory bandwidth. The host stays the same, and so do its waits.
"""

from __future__ import annotations

from ..cards import Card, cards, of_device
from ..timeline import Profile, Remedy
from .estimate import Estimate, between, gain
from .inputs import Inputs
from .rules.device_work import PRODUCTS
from .step_model import SMALLEST_KERNEL_US, StepModel, kind_ms, step_model

TOLD = 2
"""The cards that would give most."""
NO_GAIN = 1.15
"""Less is no gain to speak of."""
UNCERTAIN = Estimate(0.8, 1.0, 1.25)
"""Of the scaled work: libraries reach more of one card's peaks than of another's."""


def other_cards(inputs: Inputs) -> list[Remedy]:
    """What the cards that would help most would give, as advice; empty where the present one is not known."""
    if inputs.on_cpu or inputs.step is None or inputs.profile is None:
        return []
    name = None if inputs.gpu is None else inputs.gpu.name
    here = of_device(name or (inputs.device.name if inputs.device is not None else None))
    model = step_model(inputs)
    if here is None or model.work_ms is None:
        return []
    told = [_there(inputs, model, inputs.profile, here, card) for card in cards() if card.name != here.name]
    faster = [one for one in told if one is not None]
    faster.sort(key=lambda one: -(one.predicted_ratio or 0.0))
    return faster[:TOLD]


def _there(inputs: Inputs, model: StepModel, profile: Profile, here: Card, there: Card) -> Remedy | None:
    """The step on the other card; None where that one is no faster by its peaks."""
    assert model.work_ms is not None
    precision = inputs.settings.precision
    arithmetic = there.product_flops_per_s(precision) / here.product_flops_per_s(precision)
    bandwidth = there.memory_bytes_per_s / here.memory_bytes_per_s
    if max(arithmetic, bandwidth) < NO_GAIN or not there.runs(precision) or there.year < here.year:
        return None
    share = kind_ms(profile, *PRODUCTS) / max(profile.work_ms, 1e-9)
    products_ms = min(1.0, share) * model.work_ms
    scaled_ms = products_ms / arithmetic + (model.work_ms - products_ms) / bandwidth
    floor_ms = min(model.work_ms, (model.launches or 0.0) * SMALLEST_KERNEL_US / 1e3)
    host_ms = _host_ms(inputs, model)
    on_card = Estimate(*(scaled_ms * part for part in (UNCERTAIN.low, UNCERTAIN.likely, UNCERTAIN.high)))
    on_card = on_card.at_least(floor_ms)
    after = between(
        *(model.waits_ms + max(host_ms, each) for each in (on_card.low, on_card.likely, on_card.high))
    )
    ratio = gain(model.step_ms, after)
    return Remedy(
        setting=None,
        to=None,
        predicted_ratio=ratio.likely,
        predicted_low=ratio.low,
        predicted_high=ratio.high,
        why=f"{there.name}: {_why(model, host_ms, on_card.likely, floor_ms, ratio)}",
    )


def _host_ms(inputs: Inputs, model: StepModel) -> float:
    """What the host needs to start the step's kernels: seen where it is behind, else from what one costs."""
    assert model.work_ms is not None
    if model.starting_ms > 0.1 * model.step_ms:
        return model.work_ms + model.starting_ms
    return min((model.launches or 0.0) * model.launch_us / 1e3, model.step_ms - model.waits_ms)


def _why(model: StepModel, host_ms: float, card_ms: float, floor_ms: float, ratio: Estimate) -> str:
    if model.waits_ms > max(host_ms, card_ms):
        limit = "the batches do not come faster there"
    elif host_ms >= card_ms:
        limit = "the host cannot feed it: starting the kernels takes longer than running them"
    elif card_ms <= 1.01 * floor_ms:
        limit = "its kernels are so small that each takes the least a kernel can"
    else:
        limit = "its own work would still limit the step"
    return limit if ratio.likely >= NO_GAIN else f"no gain to speak of, {limit}"
