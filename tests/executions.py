"""Stand-ins to test executions with: a recorder of graphs for a CPU, and a step loop that can be heard."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn, optim

from gputrain_presets import Preset
from gputrain_runner import settings
from gputrain_runner.protocol import Command, Report, Start
from gputrain_runner.settings import Settings
from gputrain_runner.worker import changes, data
from gputrain_runner.worker.execution import Parts
from gputrain_runner.worker.execution.graph import GraphExecution
from gputrain_runner.worker.loop import StepLoop
from gputrain_runner.worker.trainer import Trainer
from training import losses_of

T = TypeVar("T")


class FakeGraph:
    """Replays by doing the work anew; its result lands where it lay when it was recorded."""

    def __init__(self, work: Callable[[], Tensor], outputs: Tensor) -> None:
        self._work: Callable[[], Tensor] | None = work
        self._outputs = outputs
        self.replays = 0

    @property
    def held(self) -> bool:
        """Whether nobody has let go of it."""
        return self._work is not None

    def replay(self) -> None:
        """Do the work."""
        assert self._work is not None, "it was let go of"
        self.replays += 1
        self._outputs.copy_(self._work())

    def reset(self) -> None:
        """Let go of the work."""
        self._work = None


class FakeRecorder:
    """Records on a CPU. What a real warm-up and a real recording do to the numbers, it does too."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.graphs: list[FakeGraph] = []
        self.closed = 0
        self._fails = fails

    def warm_up(self, work: Callable[[], Tensor]) -> None:
        """Do the work."""
        for _ in range(3):
            work()

    def record(self, work: Callable[[], Tensor]) -> tuple[FakeGraph, Tensor]:
        """Do it once more, as Python does while a graph is captured."""
        if self._fails is not None:
            raise self._fails
        outputs = work()
        self.graphs.append(FakeGraph(work, outputs))
        return self.graphs[-1], outputs

    def close(self) -> None:
        """Count it."""
        self.closed += 1


def as_graph(of: Trainer, recorder: FakeRecorder) -> GraphExecution:
    """Let a trainer on a CPU run its steps as graphs."""
    parts = of._running.parts
    of._running.close()
    made = GraphExecution(parts, of.settings, recorder)
    of._execution = made
    return made


def train(of: Trainer, turns: list[tuple[str, Any]], each: int = 9) -> list[float]:
    """Train, change, train, ...; every loss, also of the changes' own steps."""
    found = losses_of(of, each)
    for setting, to in turns:
        outcome = changes.make(of, setting, to)
        assert outcome.error is None, outcome.error
        assert of.loss is not None
        found += [of.loss.item(), *losses_of(of, each)]
    return found


def parts_of(model: nn.Module, optimizer: optim.Optimizer) -> Parts:
    """What a step of a regression is made of."""
    return Parts(model, optimizer, nn.functional.mse_loss)


def chosen(**changed: Any) -> Settings:
    """Settings with these values; all else as a preset would have it."""
    return Settings(**{"device": "cpu", "batch_size": 16, "model_size": "x1", **changed})


class Link:
    """The worker's end of the protocol in a list."""

    def __init__(self) -> None:
        self.commands: deque[Command] = deque()
        self.sent: list[Report] = []

    def next_command(self, timeout_s: float | None = None) -> Command | None:
        """The oldest command."""
        return self.commands.popleft() if self.commands else None

    def send(self, report: Report) -> None:
        """Keep it."""
        self.sent.append(report)

    def all(self, kind: type[T]) -> list[T]:
        """What was said of a kind."""
        return [report for report in self.sent if isinstance(report, kind)]


def loop(preset: Preset, link: Link, changed: dict[str, Any] | None = None, **options: Any) -> StepLoop:
    """A step loop of that preset, in this process, with these settings changed before it starts."""
    begin = settings.initial(preset, "cpu")
    for name, value in (changed or {}).items():
        begin = begin.with_value(name, value)
    torch.manual_seed(0)
    dataset = data.load(preset.data, preset.model)
    heard: Any = link
    return StepLoop(Start(preset=preset, settings=begin, **options), dataset, heard)
