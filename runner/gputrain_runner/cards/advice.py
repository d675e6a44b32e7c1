"""From forecasts to what a buyer wants to know: how much another card gives, and what limits it there."""

from __future__ import annotations

from .roofline import GRAPH_LAUNCH_US, LAUNCH_US, PAGEABLE_SHARE, Forecast, Host

_NO_GAIN = 1.15
"""Less than this is no gain to speak of: within what the model may be off."""
_SLOWER = 0.95
_WORTH_TELLING = 1.2
_MODEL = 1.15
"""Factor down and up for a ratio between two cards: public timings of convolutional networks lie within
it but for a few (`roofline` has the figures)."""

_WHY = {
    "host": "the host cannot feed it: starting the step's operations takes longer than the card computes",
    "input": "the input limits it: putting the batches together takes longer than all the rest",
    "arithmetic": "its arithmetic limits the step",
    "memory": "its memory bandwidth limits the step",
    "small kernels": "the kernels are so small that starting each one on the card is most of their time",
}


def ratio(before_ms: float, after: Forecast, spread: float = 0.0) -> tuple[float, float, float]:
    """How much faster a step is on the card than `before_ms`: low, likely, high.

    `spread`: by what share the measured step varied.
    """
    low_ms, likely_ms, high_ms = after.step_ms
    low, high = before_ms / (1 + spread), before_ms * (1 + spread)
    return low / high_ms, before_ms / likely_ms, high / low_ms


def between(before: Forecast, after: Forecast) -> tuple[float, float, float]:
    """The same between two forecasts: what is uncertain of host and software is so on both cards alike."""
    ratios = [b / a for b, a in zip(before.step_ms, after.step_ms, strict=True)]
    likely = before.step_ms[1] / after.step_ms[1]
    # Where both wait for the host there is nothing for the cards' model to be wrong about.
    model = 1.0 if {before.limited_by, after.limited_by} <= {"host", "input"} else _MODEL
    return min(ratios) / model, likely, max(ratios) * model


def sentence(after: Forecast, gain: tuple[float, float, float], before_name: str) -> str:
    """What to make of it, in one or two plain sentences."""
    low, likely, high = gain
    name, why = after.card.name, _WHY[after.limited_by]
    if likely < _SLOWER:
        start = f"{name} would be slower than {before_name}, ×{likely:.2g} ({low:.2g}–{high:.2g}): {why}"
    elif high < _NO_GAIN:
        start = f"{name} would give at most ×{max(high, 1.0):.2g} over {before_name}: {why}"
    elif likely < _NO_GAIN:
        start = f"{name} would give no gain to speak of over {before_name}: {why}"
    else:
        much = f"×{likely:.2g} ({low:.2g}–{high:.2g})"
        start = f"{name} would give about {much} over {before_name}; there {why}"
    return start + "."


def assumed(calls: int, host: Host, execution: str, data_path: str) -> list[str]:
    """What of the host's time on another card is assumed, each with where it comes from, in words.

    Args:
        calls: operations that a step starts.
        host: what was measured of it.
        execution, data_path: the settings.
    """
    told = []
    if execution == "graph":
        told.append(
            f"{GRAPH_LAUNCH_US:.0f} µs to start a step as a whole, as one CUDA graph (what such a start "
            "usually takes)"
        )
    elif host.dispatch_ms is None and host.launch_us is None:
        low, likely, high = LAUNCH_US
        told.append(
            f"{likely:.0f} µs ({low:.0f}–{high:.0f}) to start each of a step's {calls:,} operations (the "
            "usual range of a launch, by Holistic Trace Analysis)"
        )
    if host.data_ms is None:
        told.append("0 ms to put a batch together (as if that took no time beside the step)")
    if host.batch_bytes and data_path == "host":
        told.append(
            f"copies at {PAGEABLE_SHARE * 100:.0f} % of what the card's published link carries (usual from "
            "pageable memory)"
        )
    return told


def graph_gain(here: Forecast) -> float | None:
    """What the whole step in a CUDA graph would give on this card; None where not worth telling."""
    gain = here.step_ms[1] / here.graph_ms
    return gain if gain >= _WORTH_TELLING else None
