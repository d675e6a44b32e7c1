from __future__ import annotations

from collections.abc import Sequence

from gputrain_tui.widgets.text import runs_of, text_of
from gputrain_tui.widgets.time_axis import Marker, axis_runs


def axis(width: int, markers: Sequence[Marker] = (), first_cell: int = 0, cell_s: float = 1.0) -> str:
    return text_of(runs_of(axis_runs(first_cell, width, cell_s, markers)))


def test_times_stand_at_round_seconds_of_the_session() -> None:
    assert axis(40) == "┴00:00────────────────────────┴00:30────"
    assert axis(40, first_cell=45) == "───────────────┴01:00───────────────────"


def test_times_do_not_crowd() -> None:
    text = axis(80, cell_s=10.0)
    assert text == "┴00:00────────────────────────┴05:00────────────────────────┴10:00──────────────"


def test_a_marker_has_its_label_beside_it() -> None:
    text = axis(40, [Marker(5.0, "batch 256→512")])
    assert text == "─────▲batch 256→512───────────┴00:30────"


def test_a_marker_at_the_end_has_its_label_on_the_left() -> None:
    assert axis(30, [Marker(27.0, "host→resident")]) == "┴00:00────────host→resident▲──"


def test_labels_never_run_into_one_another() -> None:
    markers = [Marker(2.0, "batch 256→512"), Marker(9.0, "batch 512→1024"), Marker(12.0, "size ×1→×2")]
    text = axis(34, markers)
    assert text == "──▲batch─▲──▲size ×1→×2───────────"


def test_markers_in_one_cell_are_one_mark_with_the_later_label() -> None:
    assert axis(30, [Marker(3.1, "first"), Marker(3.8, "second")]).startswith("───▲second─")


def test_markers_outside_the_window_are_not_drawn() -> None:
    assert "▲" not in axis(20, [Marker(3.0, "a"), Marker(90.0, "b")], first_cell=30)


def test_the_row_has_its_width_whatever_is_in_it() -> None:
    markers = [Marker(float(t), f"batch {2**t}→{2 ** (t + 1)}") for t in range(0, 60, 3)]
    for width in range(1, 70):
        assert len(axis(width, markers)) == width
