"""Fixtures for tests of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fake_session import Clock, FakeTelemetry, Start, steady
from fake_worker import fake_worker, tiny_preset, until
from gputrain_runner.options import SessionOptions
from gputrain_runner.session import Session


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def telemetry() -> FakeTelemetry:
    return FakeTelemetry()


@pytest.fixture
def start(
    clock: Clock, telemetry: FakeTelemetry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Start]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    sessions: list[Session] = []

    def start_session(*worker_options: str, running: bool = True, **options: Any) -> Session:
        session = Session(
            SessionOptions(preset=tiny_preset(), **options),
            telemetry=telemetry,
            spawn=fake_worker(*worker_options),
            clock=clock,
        )
        sessions.append(session)
        session.start()
        if running:
            until(lambda: len(steady(session)) >= 12)
        return session

    yield start_session
    for session in sessions:
        session.stop()
