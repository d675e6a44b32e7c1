"""A GPU's utilisation: the driver's own samples since the last asking, else its newest one."""

from __future__ import annotations

from statistics import fmean

from .driver import NOT_FOUND, DriverError, Kind, typed
from .question import Question, Values

_GPU_SAMPLES = 1
"""NVML_GPU_UTILIZATION_SAMPLES, in percent."""
_US = 1_000_000
_FIRST_WINDOW_S = 1.0
"""The driver keeps many seconds of samples; the first asking takes the newest of them."""
_SILENT_S = 3.0
"""A buffer that gets nothing new for so long is not kept up by this driver."""


def from_samples(question: Question) -> Values:
    """The mean over the whole time since the last asking, not only over the driver's last window."""
    notes = question.notes
    seen_us = int(notes.get("seen_us", 0))
    now_s = question.clock()
    fresh = _newer_than(question, seen_us)
    if not fresh:
        if now_s - notes.setdefault("news_s", now_s) > max(_SILENT_S, 2 * question.every_s):
            raise DriverError(Kind.UNSUPPORTED, "the driver keeps no samples of utilisation")
        return {}
    newest_us = max(at_us for at_us, _ in fresh)
    notes["seen_us"], notes["news_s"] = newest_us, now_s
    since_us = seen_us or newest_us - int(_FIRST_WINDOW_S * _US)
    percents = [percent for at_us, percent in fresh if at_us > since_us and 0 <= percent <= 100]
    return {"utilisation": round(fmean(percents) / 100, 4) if percents else None}


def _newer_than(question: Question, seen_us: int) -> list[tuple[int, float]]:
    """The driver's samples as (time in µs, percent); those seen before are not among them."""
    try:
        value_type, samples = question.driver.call(
            "nvmlDeviceGetSamples", question.handle, _GPU_SAMPLES, seen_us
        )
    except DriverError as error:
        if error.code == NOT_FOUND:
            return []
        raise
    found = []
    for sample in samples:
        number = typed(sample.sampleValue, value_type)
        if number is not None and int(sample.timeStamp) > seen_us:
            found.append((int(sample.timeStamp), float(number)))
    return found


def from_rates(question: Question) -> Values:
    """The driver's last window: a sixth of a second to a second, whatever happened between."""
    percent = int(question.driver.call("nvmlDeviceGetUtilizationRates", question.handle).gpu)
    return {"utilisation": percent / 100 if 0 <= percent <= 100 else None}
