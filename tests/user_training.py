"""A user's own preset trained in this process as the worker does, and what is said of a wrong one."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gputrain_presets
from gputrain_presets import Preset
from gputrain_runner import settings
from gputrain_runner.protocol import Command, Report, Start
from gputrain_runner.worker import service
from gputrain_runner.worker.link import Link
from user_presets import MODEL


@pytest.fixture(autouse=True)
def users_modules(tmp_path: Path) -> Iterator[None]:
    """A test's modules of the user's are its own, though they are called alike in all."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


class Listener(Link):
    """The worker's end of the protocol without pipes: keeps what is reported."""

    def __init__(self) -> None:
        self.commands: deque[Command] = deque()
        self.heard: list[Report] = []

    def send(self, report: Report) -> None:
        self.heard.append(report)


def load(path: Path) -> Preset:
    return gputrain_presets.load(str(path))


def train(path: Path, **options: Any) -> list[Report]:
    """Train some steps; what is reported."""
    preset, listener = load(path), Listener()
    usual: dict[str, Any] = {"settings": settings.initial(preset, "cpu"), "steps": 5}
    start = Start(preset=preset, **{**usual, **options})
    service.train(start, listener)
    return listener.heard


def complaint(path: Path) -> str:
    """What is said of a wrong file, without its name that it begins with."""
    with pytest.raises(service.UserError) as caught:
        train(path)
    text = str(caught.value)
    assert caught.value.usage
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def edited(old: str, new: str) -> str:
    """The text of the user's model, something replaced in it."""
    assert MODEL.count(old) == 1, old
    return MODEL.replace(old, new)
