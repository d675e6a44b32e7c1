"""Headers and timeline entries to test with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from gputrain_runner.settings import Settings, Value
from gputrain_runner.timeline import (
    Change,
    Device,
    Header,
    Host,
    HostLoad,
    Message,
    Phase,
    Recording,
    Sample,
    SessionInfo,
    StepMs,
    Summary,
    Validation,
)

SETTINGS = Settings(device="cpu", batch_size=1024, model_size="small")


def header(**of_host: str) -> Header:
    """A header; `of_host` are fields that became known."""
    return Header(
        session=SessionInfo(
            id="0123",
            started_at="2026-11-30T10:12:05.000+00:00",
            preset={"name": "tiny", "title": 'quotes " and\nnew lines'},
            settings=SETTINGS,
            command=["gputrain-tui", "run", "tiny"],
        ),
        host=Host(
            os="Linux", cpu=None, cores=2, memory_bytes=1 << 34, python="3.11.7", over_ssh=False, **of_host
        ),
        devices=[Device(device="cpu")] if of_host else [],
    )


def sample(
    t: float,
    samples_per_s: float | None = 1000.0,
    steady: bool = True,
    settings: Settings = SETTINGS,
    validation: Validation | None = None,
    loss: float | None = 0.5,
) -> Sample:
    """A sample with something in most of its fields."""
    return Sample(
        t=t,
        step=int(t * 40),
        epoch=0,
        settings=settings,
        steady=steady,
        samples_per_s=samples_per_s,
        step_ms=StepMs(p50=25.0, p95=26.5, mean=25.2),
        loss=loss,
        phases={"forward": Phase(host_ms=10.0), "other": Phase(host_ms=15.0)},
        validation=validation,
        host=HostLoad(cpu_utilisation=0.5),
    )


def change(
    t: float, from_: Value = 1024, to: Value = 2048, setting: str = "batch_size", ok: bool = True
) -> Change:
    """A change of a setting."""
    error = None if ok else "out of memory"
    return Change(t=t, step=int(t * 40), setting=setting, from_=from_, to=to, ok=ok, error=error)


def message(t: float, text: str = "hello") -> Message:
    """A line for the user."""
    return Message(t=t, level="info", text=text)


def summary() -> Summary:
    """The end of a session."""
    return Summary(
        ended="finished",
        error=None,
        seconds=1.5,
        steps=10,
        epochs=0,
        samples=10240,
        samples_per_s=1000.0,
        loss_first=1.0,
        loss_last=0.5,
        validation=None,
        changes=0,
        effects=0,
    )


def load_recording(path: Path) -> Any:
    """The document in a file; both readers must take it."""
    text = path.read_bytes()
    msgspec.json.decode(text, type=Recording)
    return json.loads(text)
