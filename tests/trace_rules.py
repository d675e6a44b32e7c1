"""The rules of the trace-event format, as far as they can be checked: what Perfetto and Chrome rely on.

(Trace Event Format, the Catapult project: phases M, X, i and C, and the fields that each must have.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

METADATA = {
    "process_name": ("name", str),
    "thread_name": ("name", str),
    "thread_sort_index": ("sort_index", int),
    "process_sort_index": ("sort_index", int),
}


def checked(text: str) -> list[dict[str, Any]]:
    """The events of a trace that keeps every rule; AssertionError names the one that does not."""
    document = json.loads(text, parse_constant=_no_constant)
    assert document["displayTimeUnit"] in ("ms", "ns")
    events: list[dict[str, Any]] = document["traceEvents"]
    assert isinstance(events, list) and events
    for event in events:
        _check_common(event)
        {"M": _check_metadata, "X": _check_complete, "i": _check_instant, "C": _check_counter}[event["ph"]](
            event
        )
    _check_nesting(events)
    return events


def _no_constant(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_common(event: Mapping[str, Any]) -> None:
    assert isinstance(event["name"], str) and event["name"], event
    assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    assert _number(event["ts"]) and event["ts"] >= 0, event
    assert isinstance(event["args"], dict), event


def _check_metadata(event: Mapping[str, Any]) -> None:
    field, kind = METADATA[event["name"]]
    assert list(event["args"]) == [field] and isinstance(event["args"][field], kind), event


def _check_complete(event: Mapping[str, Any]) -> None:
    assert _number(event["dur"]) and event["dur"] >= 0, event
    assert isinstance(event["cat"], str), event


def _check_instant(event: Mapping[str, Any]) -> None:
    assert event["s"] in ("g", "p", "t"), event


def _check_counter(event: Mapping[str, Any]) -> None:
    assert event["args"] and all(_number(value) for value in event["args"].values()), event


def _check_nesting(events: list[dict[str, Any]]) -> None:
    """On one track a slice lies within the one it begins in: overlaps are not allowed."""
    open_until: dict[tuple[int, int], list[float]] = {}
    slices = [event for event in events if event["ph"] == "X"]
    for event in sorted(slices, key=lambda event: (event["ts"], -event["dur"])):
        stack = open_until.setdefault((event["pid"], event["tid"]), [])
        end = round(event["ts"] + event["dur"], 3)
        while stack and stack[-1] <= event["ts"]:
            stack.pop()
        assert not stack or end <= stack[-1], event
        stack.append(end)
