"""What tests of sessions share: a clock and a telemetry moved by hand, and ways to look into a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from fake_worker import BEGAN, until
from gputrain_runner.schema import recording_schema
from gputrain_runner.session import Session
from gputrain_runner.telemetry.reading import Reading
from gputrain_runner.timeline import Change, Effect, Entry, Gpu, HostLoad, Message, Sample

Start = Callable[..., Session]
"""Starts a session, as the fixture `start` does."""

VALIDATOR = Draft202012Validator(recording_schema())


class Clock:
    """The session's clock, moved by the test alone."""

    def __init__(self) -> None:
        self.now = BEGAN

    def __call__(self) -> float:
        return self.now


class FakeTelemetry:
    """What the telemetry last measured; and whom it was told to watch."""

    def __init__(self) -> None:
        self.watched: list[int | None] = []
        self.focused: list[frozenset[str]] = []
        self.reading = Reading(
            gpus=[Gpu(index=0, uuid="GPU-cuda:0", utilisation=0.75)],
            host=HostLoad(cpu_utilisation=0.5),
            gpu_absence=None,
            driver=None,
            age_s=0.1,
        )

    def latest(self) -> Reading:
        return self.reading

    def watch(self, worker_pid: int | None) -> None:
        self.watched.append(worker_pid)

    def focus(self, uuids: Collection[str]) -> None:
        self.focused.append(frozenset(uuids))


def entries(session: Session) -> list[Entry]:
    return list(session.read(0)[0])


def changes(session: Session) -> list[Change]:
    return [entry for entry in entries(session) if isinstance(entry, Change)]


def effects(session: Session) -> list[Effect]:
    return [entry for entry in entries(session) if isinstance(entry, Effect)]


def messages(session: Session) -> list[str]:
    return [entry.text for entry in entries(session) if isinstance(entry, Message)]


def steady(session: Session) -> list[Sample]:
    return [entry for entry in entries(session) if isinstance(entry, Sample) and entry.steady]


def wait_for_changes(session: Session, count: int) -> None:
    until(lambda: len(changes(session)) >= count)


def wait_for_effects(session: Session, count: int) -> None:
    until(lambda: len(effects(session)) >= count)


def recorded(path: Path) -> Any:
    document = json.loads(path.read_text())
    VALIDATOR.validate(document)
    return document


def change_and_wait(session: Session, setting: str, to: str | int) -> Change:
    before = len(changes(session))
    session.change(setting, to)
    until(lambda: len(changes(session)) > before)
    return changes(session)[-1]
