"""The kinds of data: a kind is a file here that loads it, and its line in `_KINDS`."""

from __future__ import annotations

from collections.abc import Callable

from gputrain_presets import spec

from . import digits, teacher
from .dataset import DataError, Dataset, Split

__all__ = ["DataError", "Dataset", "Split", "load"]

_KINDS: dict[type[spec.Data], Callable[..., Dataset]] = {
    spec.TeacherData: teacher.load,
    spec.DigitsData: digits.load,
}


def load(data: spec.Data, model: spec.Model) -> Dataset:
    """The samples of a preset, the same for every size of its model.

    DataError says in one line which file is wrong, and how.
    """
    return _KINDS[type(data)](data, model)
