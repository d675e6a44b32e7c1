"""A user's own model on a real GPU: it moves there and back, and the weights of its loss with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from training import losses_of, moved, trainer
from user_presets import write
from user_training import load, users_modules  # noqa: F401 - a fixture


def test_it_moves_to_the_gpu_and_back_with_the_losses_of_staying(tmp_path: Path) -> None:
    preset = load(write(tmp_path, ("label_smoothing = 0.1", "weight = [1, 2, 3, 4]")))
    stays, moves = trainer(preset), trainer(preset)
    expected = losses_of(stays, 60)

    found = losses_of(moves, 20)
    moved(moves, "cuda:0")
    found += losses_of(moves, 20)
    moved(moves, "cpu")
    found += losses_of(moves, 20)

    assert found == pytest.approx(expected, abs=1e-3)
    assert expected[-1] < expected[0]
