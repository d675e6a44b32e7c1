"""Verdicts of a session with a worker: in its feed and recording, and beside what their remedies gave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fake_session import FakeTelemetry, Start, change_and_wait, effects, entries, recorded, wait_for_effects
from fake_worker import until
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.session import Session
from gputrain_runner.timeline import Verdict


@pytest.fixture(autouse=True)
def no_gpu(telemetry: FakeTelemetry) -> None:
    """A GPU that PyTorch does not use would be a verdict of its own."""
    telemetry.reading = replace(telemetry.reading, gpus=[])


def verdicts(session: Session) -> list[Verdict]:
    return [entry for entry in entries(session) if isinstance(entry, Verdict)]


def test_a_session_tells_what_limits_it_and_records_it(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "told.json"
    session = start("--waits", record=path)
    until(lambda: len(verdicts(session)) >= 2)
    first, second = verdicts(session)[:2]
    assert first.bottleneck == names.CANNOT_SAY
    assert second.bottleneck == names.INPUT
    assert second.slice_ms == 20.0
    assert second.step_ms == 25.0
    session.stop()
    told = [entry for entry in recorded(path)["timeline"] if entry["kind"] == "verdict"]
    assert [entry["bottleneck"] for entry in told][:2] == [names.CANNOT_SAY, names.INPUT]
    assert told[1]["evidence"]
    assert told[1]["remedies"][0]["predicted_ratio"] > 1


def test_a_remedy_that_is_applied_has_its_prediction_beside_what_was_measured(start: Start) -> None:
    session = start("--waits")
    until(lambda: any(told.bottleneck == names.INPUT for told in verdicts(session)))
    remedy = next(one for one in verdicts(session)[-1].remedies if one.setting == "data_path")
    assert isinstance(remedy.to, str)
    change_and_wait(session, "data_path", remedy.to)
    wait_for_effects(session, 1)
    (effect,) = effects(session)
    assert effect.predicted_ratio == remedy.predicted_ratio
    assert 0.9 < effect.ratio < 1.1


def test_a_session_that_shows_too_little_says_so(start: Start) -> None:
    session = start()
    until(lambda: bool(verdicts(session)))
    assert all(told.bottleneck == names.CANNOT_SAY for told in verdicts(session))
    assert verdicts(session)[0].sentence.startswith("Cannot say yet: ")
