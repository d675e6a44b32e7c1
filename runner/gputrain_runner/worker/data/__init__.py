"""The kinds of data: a kind is a file here that loads it, and its line in `_KINDS`."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gputrain_presets import spec
from gputrain_presets.user_data import FilesData, RandomData

from . import digits, files, images, shaped, teacher, text
from .dataset import AnySplit, DataError, Dataset, Split

__all__ = ["AnySplit", "DataError", "Dataset", "Split", "example_inputs", "load"]

_KINDS: dict[type[spec.Data], Callable[..., Dataset]] = {
    spec.TeacherData: teacher.load,
    spec.DigitsData: digits.load,
    spec.ImagesData: images.load,
    spec.TextData: text.load,
    RandomData: shaped.load,
    FilesData: files.load,
}


def load(data: spec.Data, model: spec.Model) -> Dataset:
    """The samples of a preset, the same for every size of its model.

    DataError says in one line which file is wrong, and how; PresetError which key of the preset's.
    """
    return _KINDS[type(data)](data, model)


def example_inputs(data: spec.Data, samples: int) -> Tensor:
    """Inputs of the shape and type of the data's, all 0, for a model that does not say what it takes.

    KeyError for kinds whose shapes are the model's.
    """
    match data:
        case RandomData():
            return shaped.example_inputs(data, samples)
        case FilesData():
            return files.example_inputs(data, samples)
        case spec.ImagesData():
            return torch.zeros(samples, data.channels, data.side, data.side)
        case spec.DigitsData():
            return torch.zeros(samples, digits.INPUTS)
    raise KeyError(type(data).__name__)
