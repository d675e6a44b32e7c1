"""How long a GPU's clocks were held back, by reason: from the driver's counters of nanoseconds."""

from __future__ import annotations

from .driver import DriverError, FieldValue, Kind
from .question import Question, Values

FIELDS = ("throttled", "throttled_s")

COUNTERS = {
    74: "sw_power_cap",
    76: "sync_boost",
    77: "board_limit",
    79: "reliability",
    269: "sw_thermal_slowdown",
    270: "hw_thermal_slowdown",
    271: "hw_power_brake",
}
"""NVML_FI_DEV_PERF_POLICY_* and NVML_FI_DEV_CLOCKS_EVENT_REASON_*, named as the reasons of the moment."""
_NS = 1e9


def from_counters(question: Question) -> Values:
    """The share of the time since the last asking, and the seconds since the first, of each reason."""
    notes = question.notes
    asked: list[int] = notes.setdefault("asked", list(COUNTERS))
    answers = question.driver.fields_apart(question.handle, asked)
    now_s = question.clock()
    counts: dict[str, int] = {}
    for field in list(asked):
        answer = answers[field]
        if isinstance(answer, FieldValue):
            counts[COUNTERS[field]] = int(answer.number)
        elif answer.kind in (Kind.UNSUPPORTED, Kind.NO_PERMISSION):
            asked.remove(field)
    if not counts:
        raise _worst([answer for answer in answers.values() if isinstance(answer, DriverError)])
    before: tuple[float, dict[str, int]] | None = notes.get("before")
    notes["before"] = (now_s, counts)
    if before is None:
        return dict.fromkeys(FIELDS)
    seconds: dict[str, float] = notes.setdefault("seconds", {})
    shares, whole = _since(before, now_s, counts, seconds)
    notes["holes"] = notes.get("holes", False) or not whole
    # Those that can be read are told still, but where there are none, that is not known to be all.
    return {
        "throttled": shares if shares or whole else None,
        "throttled_s": {reason: round(total_s, 3) for reason, total_s in seconds.items()}
        if seconds or not notes["holes"]
        else None,
    }


def _since(
    before: tuple[float, dict[str, int]], now_s: float, counts: dict[str, int], seconds: dict[str, float]
) -> tuple[dict[str, float], bool]:
    """Shares since `before`, and whether all could be read; their seconds are added to `seconds`."""
    elapsed_s = now_s - before[0]
    shares: dict[str, float] = {}
    whole = True
    for reason, count in counts.items():
        held_s = (count - before[1].get(reason, count)) / _NS
        # One that went down was reset; one that ran faster than time counts something else.
        if elapsed_s <= 0 or not 0 <= held_s <= 2 * elapsed_s + 1:
            whole = False
        elif held_s > 0:
            shares[reason] = round(min(1.0, held_s / elapsed_s), 4)
            seconds[reason] = seconds.get(reason, 0.0) + held_s
    return shares, whole


def _worst(errors: list[DriverError]) -> DriverError:
    """What to make of it when no field has a value: refused only where all of them are."""
    passing = [error for error in errors if error.kind not in (Kind.UNSUPPORTED, Kind.NO_PERMISSION)]
    denied = [error for error in errors if error.kind is Kind.NO_PERMISSION]
    return (passing or denied or errors)[0]
