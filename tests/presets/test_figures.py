"""Which published figures are set beside what is measured."""

from __future__ import annotations

from typing import Any

from msgspec import structs

import gputrain_presets
from gputrain_presets import Preset, figures
from gputrain_presets.spec import Published


def figure(hardware: str, batch_size: int, **changes: Any) -> Published:
    made = Published(
        hardware=hardware,
        framework="Torch",
        batch_size=batch_size,
        passes="training",
        value=1.0,
        unit="ms",
        source="somewhere",
    )
    return structs.replace(made, **changes)


def preset(*published: Published) -> Preset:
    return structs.replace(gputrain_presets.load("resnet"), published=list(published))


def test_each_card_and_framework_gives_its_nearest_batch() -> None:
    of = preset(figure("A", 16), figure("A", 128), figure("B", 32), figure("A", 16, framework="Neon"))

    found = figures.near(of, "50", 64, "training")

    assert [(known.hardware, known.framework, known.batch_size) for known in found] == [
        ("A", "Torch", 128),
        ("B", "Torch", 32),
        ("A", "Neon", 16),
    ]


def test_nearness_is_by_ratio_and_the_larger_batch_wins_a_tie() -> None:
    of = preset(figure("A", 10), figure("A", 60), figure("A", 40), figure("A", 20))

    assert figures.near(of, "50", 20, "training")[0].batch_size == 20
    assert figures.near(of, "50", 24, "training")[0].batch_size == 20
    assert figures.near(of, "50", 49, "training")[0].batch_size == 60
    assert figures.near(preset(figure("A", 32), figure("A", 128)), "50", 64, "training")[0].batch_size == 128


def test_other_sizes_and_passes_do_not_count() -> None:
    other_size, forward = figure("A", 64, size="101"), figure("B", 64, passes="forward")
    of = preset(other_size, forward, figure("C", 64, size="50"), figure("D", 64))

    assert [known.hardware for known in figures.near(of, "50", 64, "training")] == ["C", "D"]
    assert [known.hardware for known in figures.near(of, "101", 64, "training")] == ["A"]
    assert [known.hardware for known in figures.near(of, "50", 64, "forward")] == ["B"]
    assert figures.near(of, "18", 64, "training") == []


def test_the_question_about_vgg_finds_its_own_figure() -> None:
    of = gputrain_presets.load("vgg")

    for batch_size, value in ((64, 420.28), (128, 899.86), (100, 899.86)):
        found = figures.near(of, "11", batch_size, "training")
        assert value in [known.value for known in found if known.framework == "TensorFlow 1.0"]
