"""What a GPU's fields are called in sentences: never by the names they have in a recording."""

from __future__ import annotations

import msgspec
import pytest

from gputrain_runner.hardware import Gpu, GpuDetail
from gputrain_runner.hardware_words import WORDS, words
from gputrain_runner.telemetry.metrics import METRICS

ASKED = sorted({field for metric in METRICS for field in metric.fields})
"""What a driver may refuse."""
_NEVER_ASKED = {"index", "mig", "age_s", "trouble", "detail", "denied"}


def test_everything_that_can_be_denied_has_a_name_for_people() -> None:
    fields = {field.name for struct in (Gpu, GpuDetail) for field in msgspec.structs.fields(struct)}
    assert set(WORDS) == fields - _NEVER_ASKED == set(ASKED)


@pytest.mark.parametrize("field", ASKED)
def test_names_for_people_are_no_fields(field: str) -> None:
    told = words([field])
    assert told and "_" not in told
    assert not told.endswith((" bytes", " mhz", " w", " s", " c"))


def test_names_are_told_apart() -> None:
    assert len(set(WORDS.values())) == len(WORDS)


def test_a_list_of_them() -> None:
    fields = ["memory_used_bytes", "sm_clock_mhz", "memory_used_bytes", "power_w"]
    assert words(fields) == "memory used, SM clock, power"
    assert words(fields, 2) == "memory used, SM clock and 1 more"
    assert words(fields, 3) == "memory used, SM clock, power"
    assert words(["of_a_newer_version"]) == "of a newer version"
    assert words([]) == ""
