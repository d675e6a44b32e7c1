"""A user's own preset in a folder, as tests of all packages write it."""

from __future__ import annotations

from pathlib import Path

MODEL = """\
from torch import nn

WIDTHS = {"small": 8, "large": 32}


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(12, width)
        self.scores = nn.Linear(width, 4)

    def forward(self, inputs):
        return self.scores(self.hidden(inputs.flatten(1)).relu())


def make(size):
    return Net(WIDTHS[size])
"""

PRESET = """\
name = "mine"
title = "a model of my own"
batch_size = 16

[model]
file = "my_model.py"
build = "make"
sizes = ["small", "large"]

[data]
kind = "random"
inputs = { shape = [3, 4], dtype = "float32" }
targets = { shape = [], dtype = "int64", classes = 4 }
training_samples = 320
validation_samples = 32

[loss]
kind = "torch"
name = "CrossEntropyLoss"
arguments = { label_smoothing = 0.1 }

[optimizer]
kind = "torch"
name = "AdamW"
lr = 0.01
arguments = { weight_decay = 0.01, betas = [0.9, 0.99] }
"""

FILES = """\
[data]
kind = "files"
inputs = "x.npy"
targets = "y.npy"
validation_share = 0.25
"""


def write(folder: Path, *edits: tuple[str, str], model: str = MODEL, preset: str = PRESET) -> Path:
    """The preset file and the model's beside it, with texts of the preset's replaced; the preset's path."""
    for old, new in edits:
        assert preset.count(old) == 1, old
        preset = preset.replace(old, new)
    (folder / "my_model.py").write_text(model, encoding="utf-8")
    path = folder / "mine.toml"
    path.write_text(preset, encoding="utf-8")
    return path


def with_files(preset: str = PRESET) -> str:
    """The preset with its data in the files x.npy and y.npy."""
    start, end = preset.index("[data]"), preset.index("[loss]")
    return f"{preset[:start]}{FILES}\n{preset[end:]}"
