from __future__ import annotations

import pytest

from gputrain_tui.widgets.scale import Scale, labelled_rows, nice_top


@pytest.mark.parametrize(
    ("value", "top"),
    [
        (1843210, 2e6),
        (2e6, 2e6),
        (2.01e6, 5e6),
        (0.031, 0.05),
        (7, 10),
        (1, 1),
        (0, 1),
        (-3, 1),
        (float("nan"), 1),
    ],
)
def test_tops_are_1_2_or_5(value: float, top: float) -> None:
    assert nice_top(value) == pytest.approx(top)


def test_the_range_grows_at_once_and_shrinks_only_with_room() -> None:
    scale = Scale()
    assert scale.follow([None]) == 1.0
    assert scale.follow([(0.1, 90.0)]) == 100
    assert scale.follow([(0.1, 101.0)]) == 200
    assert scale.follow([(0.1, 99.0)]) == 200
    assert scale.follow([(0.1, 91.0)]) == 200
    assert scale.follow([(0.1, 89.0)]) == 100
    assert scale.follow([None]) == 100


def test_noise_at_an_edge_does_not_move_the_range() -> None:
    scale = Scale()
    tops = {scale.follow([(0.0, 1000 + noise)]) for noise in (5, -5, 3, -8, 2, -40, 9)}
    assert tops == {2000}


def test_a_fixed_range_stays() -> None:
    scale = Scale(1.0)
    assert scale.top == 1.0
    assert scale.follow([(0.0, 7.0)]) == 1.0


def test_labels_stand_where_their_value_is_drawn() -> None:
    assert labelled_rows(1, 2.0) == {0: 2.0}
    assert labelled_rows(4, 2.0) == {0: 2.0, 1: 1.0}
    assert labelled_rows(8, 2.0) == {0: 2.0, 1: 1.5, 3: 1.0, 5: 0.5}
    assert labelled_rows(11, 5.0) == {0: 5.0, 2: 4.0, 4: 3.0, 6: 2.0, 8: 1.0}
    assert labelled_rows(4, 0.05) == {0: 0.05, 1: 0.025}
