"""Trainings with a fault planted in them, as a user might have it: each a preset and a model in a folder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gputrain_runner.diagnosis.rules import names

PRESET = """\
name = "planted"
title = "a training with a fault"
batch_size = {batch_size}

[model]
file = "model.py"
build = "make"

[data]
kind = "random"
inputs = {{ shape = {inputs}, dtype = "float32" }}
targets = {{ shape = [], dtype = "int64", classes = 10 }}
training_samples = {samples}

[loss]
kind = "cross_entropy"

[optimizer]
kind = "torch"
name = "{optimizer}"
lr = {lr}
arguments = {{ {arguments} }}
"""

LAYERS = """\
import torch
from torch import nn


def make():
    widths = {widths}
    layers = []
    for taken, given in zip(widths, widths[1:]):
        layers += [nn.Linear(taken, given), nn.ReLU()]
    return nn.Sequential(nn.Flatten(), *layers[:-1])
"""

SLOW_SAMPLES = """
import time

from gputrain_runner.worker.data import dataset

_gather = dataset.Split.gather
_one = dataset.Split.__getitem__


def _slow_gather(self, *arguments, **named):
    time.sleep({seconds})
    return _gather(self, *arguments, **named)


def _slow_one(self, index):
    time.sleep({seconds} / 16)
    return _one(self, index)


dataset.Split.gather = _slow_gather
dataset.Split.__getitem__ = _slow_one
"""

READING_BACK = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.right = 0.0

    def forward(self, inputs):
        scores = self.layers(inputs)
        {reads}
        return scores


def make():
    return Net()
"""
EACH_SAMPLE = "self.right += sum(score.item() for score in scores.detach()[:, 0])"
ONCE = "self.right += scores.detach().mean().item()"

LOOPING_LSTM = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(16, 64)
        self.scores = nn.Linear(64, 10)

    def forward(self, inputs):
        hidden = inputs.new_zeros(len(inputs), 64)
        memory = inputs.new_zeros(len(inputs), 64)
        for t in range(inputs.shape[1]):
            hidden, memory = self.cell(inputs[:, t], (hidden, memory))
        return self.scores(hidden)


def make():
    return Net()
"""

VANISHING = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)])
        self.scores = nn.Linear(64, 10)

    def forward(self, inputs):
        # The large part hardly counts, so that its gradients nearly vanish: their squares do.
        return self.scores(inputs[:, :64]) + 1e-17 * self.layers(inputs)[:, :10]


def make():
    return Net()
"""

ELEMENTWISE = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1000))
        self.scores = nn.Linear(1000, 10)

    def forward(self, inputs):
        for _ in range(12):
            inputs = torch.tanh(inputs * self.scale) + inputs
        return self.scores(inputs)


def make():
    return Net()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A training that can be written to a folder.

    Attributes:
        expected: what the diagnosis is to name first; None: anything that is no problem.
        settings: turned at its start, by name, as typed on a command line.
        burners: how many other programs are to use a core meanwhile.
        needs_cores: with fewer it cannot be planted.
        acceptable: other names that are right as well.
    """

    expected: str | None
    model: str
    inputs: list[int] = field(default_factory=lambda: [64])
    batch_size: int = 64
    samples: int = 4096
    optimizer: str = "SGD"
    lr: float = 1e-4
    arguments: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    burners: int = 0
    needs_cores: int = 1
    acceptable: tuple[str, ...] = ()

    def write(self, folder: Path) -> Path:
        """The preset's file, with the model's beside it."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.py").write_text(self.model, encoding="utf-8")
        path = folder / "planted.toml"
        text = PRESET.format(
            batch_size=self.batch_size,
            inputs=self.inputs,
            samples=self.samples,
            optimizer=self.optimizer,
            lr=self.lr,
            arguments=self.arguments,
        )
        path.write_text(text, encoding="utf-8")
        return path


def layers(*widths: int) -> str:
    """A model file of Linear layers of these widths."""
    return LAYERS.format(widths=list(widths))


_LARGE = layers(1024, 1024, 1024, 10)
_SMALL = layers(64, 64, 64, 10)


def _large(expected: str | None, **more: object) -> Fault:
    """Matrix products that take what time there is."""
    return Fault(expected=expected, model=_LARGE, inputs=[1024], batch_size=512, samples=2048, **more)  # type: ignore[arg-type]


_ONE = {"threads": "1"}
_ON_ONE_THREAD = {
    "slow samples, host": Fault(
        expected=names.INPUT, model=_SMALL + SLOW_SAMPLES.format(seconds=0.01), settings=_ONE
    ),
    "slow samples, loader": Fault(
        expected=names.INPUT,
        model=_SMALL + SLOW_SAMPLES.format(seconds=0.01),
        settings={**_ONE, "data_path": "loader", "workers": "1"},
    ),
    "LSTM cell by cell": Fault(
        expected=names.RECURRENCE, model=LOOPING_LSTM, inputs=[50, 16], batch_size=16, settings=_ONE
    ),
    ".item() of each sample": Fault(
        expected=names.SYNC,
        model=READING_BACK.format(reads=EACH_SAMPLE),
        batch_size=512,
        settings=_ONE,
    ),
    ".item() once a step": Fault(
        expected=names.SYNC,
        model=READING_BACK.format(reads=ONCE),
        batch_size=512,
        settings=_ONE,
        acceptable=(names.LAUNCH, names.OPTIMIZER),
    ),
    "optimizer tensor by tensor": Fault(
        expected=names.OPTIMIZER,
        model=layers(*[64] * 40, 10),
        batch_size=16,
        optimizer="Adam",
        arguments="foreach = false",
        settings=_ONE,
    ),
    "tiny batch": Fault(expected=names.LAUNCH, model=_SMALL, batch_size=4, settings=_ONE),
    "denormal numbers": Fault(
        expected=names.DENORMALS, model=VANISHING, inputs=[512], optimizer="Adam", settings=_ONE
    ),
}


def faults(cores: int) -> dict[str, Fault]:
    """Every fault by its name, for a machine of so many cores."""
    all_cores = {"threads": str(cores)}
    return {
        "large products, no fault": _large(None, settings=all_cores),
        **_ON_ONE_THREAD,
        "one thread": _large(names.SINGLE_CORE, settings=_ONE, needs_cores=2),
        "too many threads": _large(names.OVERSUBSCRIBED, settings={"threads": str(4 * cores)}),
        "competing processes": _large(names.CPU_SHARED, settings=all_cores, burners=cores),
        "elementwise work": Fault(
            expected=names.BANDWIDTH, model=ELEMENTWISE, inputs=[1000], batch_size=2048, settings=all_cores
        ),
    }


@contextmanager
def burning(count: int) -> Iterator[None]:
    """So many programs that each use a core for as long as they are let."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()
