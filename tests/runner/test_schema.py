"""The JSON Schema of a recording: it says what recordings are, and what they are not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from msgspec import structs

from gputrain_runner.recorder import Recorder
from gputrain_runner.schema import recording_schema, recording_schema_text
from gputrain_runner.timeline import (
    Effect,
    Entry,
    FinalValidation,
    Gpu,
    Memory,
    Rate,
    Remedy,
    Validation,
    Verdict,
)
from timelines import change, header, message, sample, summary

VALIDATOR = Draft202012Validator(recording_schema())
RATE = Rate(samples_per_s=1.0, q25=0.5, q75=1.5, samples=8)


def entries() -> list[Entry]:
    gpu = Gpu(index=0, uuid="GPU-1", utilisation=0.5, throttle=["power"])
    full = structs.replace(
        sample(1.0, validation=Validation(epoch=1, host_ms=3.0, samples=10, loss=0.2, accuracy=0.9)),
        gpus=[gpu],
        memory=Memory(allocated_bytes=1),
    )
    return [
        full,
        change(1.5, "cpu", "cuda:0", "device"),
        change(1.7, ok=False),
        Effect(t=4.0, change=1, before=RATE, after=RATE, ratio=1.0, ratio_low=0.9, ratio_high=1.1),
        Verdict(
            t=5.0,
            bottleneck="launch",
            evidence=["dispatch 0.9 of the step"],
            remedies=[Remedy(setting="batch_size", to=4096, predicted_ratio=2.0, why="fewer launches")],
        ),
        message(6.0),
        sample(7.0, None, loss=float("nan")),
    ]


def recording(folder: Path, complete: bool = True) -> Any:
    recorder = Recorder(folder / f"{complete}.json", header())
    for position, entry in enumerate(entries()):
        recorder.write(position, entry)
    recorder.update_header(header(torch="2.99.0"))
    if complete:
        recorder.complete(structs.replace(summary(), validation=FinalValidation(loss=0.5)))
    return json.loads(recorder.path.read_text())


def test_the_schema_is_one_itself() -> None:
    Draft202012Validator.check_schema(recording_schema())
    assert json.loads(recording_schema_text()) == recording_schema()
    assert {"$schema", "$id", "title", "description"} <= set(recording_schema())


def test_it_describes_fields_by_the_words_of_their_structs() -> None:
    definitions = recording_schema()["$defs"]
    assert "first step under the new setting" in definitions["Change"]["properties"]["step"]["description"]
    assert "from" in definitions["Change"]["properties"]
    assert definitions["Gpu"]["description"].startswith("One GPU")


@pytest.mark.parametrize("complete", [True, False])
def test_recordings_validate(tmp_path: Path, complete: bool) -> None:
    document = recording(tmp_path, complete)
    VALIDATOR.validate(document)
    assert ("summary" in document) == complete


def test_fields_it_does_not_know_are_allowed(tmp_path: Path) -> None:
    document = recording(tmp_path)
    document["timeline"][0]["a_later_field"] = 1
    document["a_later_table"] = {}
    assert VALIDATOR.is_valid(document)


def without(*path: str | int) -> Callable[[Any], None]:
    def mutate(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        del document[path[-1]]

    return mutate


def with_value(value: Any, *path: str | int) -> Callable[[Any], None]:
    def mutate(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return mutate


@pytest.mark.parametrize(
    "mutate",
    [
        without("schema"),
        without("version"),
        without("host"),
        without("timeline"),
        without("session", "settings", "device"),
        without("timeline", 0, "t"),
        without("timeline", 0, "kind"),
        without("timeline", 1, "from"),
        without("timeline", 3, "ratio_low"),
        without("summary", "samples_per_s"),
        with_value(2, "version"),
        with_value("another", "schema"),
        with_value("fast", "timeline", 0, "samples_per_s"),
        with_value("yes", "timeline", 0, "steady"),
        with_value("surprise", "timeline", 0, "kind"),
        with_value(1.5, "timeline", 3, "change"),
        with_value("fatal", "timeline", 5, "level"),
        with_value(-1.0, "timeline", 4, "remedies"),
        with_value("stopped", "summary", "ended"),
        with_value({}, "timeline"),
    ],
)
def test_what_is_no_recording_does_not_validate(tmp_path: Path, mutate: Callable[[Any], None]) -> None:
    document = recording(tmp_path)
    mutate(document)
    assert not VALIDATOR.is_valid(document)
