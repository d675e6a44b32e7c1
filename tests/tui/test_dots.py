from __future__ import annotations

import pytest

from gputrain_tui.series import Column
from gputrain_tui.widgets.dots import COLUMNS_PER_CELL, rows_of
from gputrain_tui.widgets.glyphs import GLYPH_NAMES, GlyphName


def points(*values: float | None) -> list[Column]:
    """One value per column, nothing before the window."""
    return [None, *(None if value is None else (value, value) for value in values)]


def test_a_flat_line() -> None:
    assert rows_of(points(*[1.0] * 8), 2, 2.0, "braille") == ["⣀⣀⣀⣀", "    "]
    assert rows_of(points(*[0.0] * 8), 2, 2.0, "braille") == ["    ", "⣀⣀⣀⣀"]
    assert rows_of(points(*[2.0] * 8), 2, 2.0, "braille") == ["⠉⠉⠉⠉", "    "]


def test_a_ramp() -> None:
    assert rows_of(points(*range(16)), 2, 15.0, "braille") == ["    ⣀⠤⠒⠉", "⣀⠤⠒⠉    "]


def test_a_steep_slope_has_no_holes() -> None:
    rows = rows_of(points(0, 0, 0, 10, 10, 10), 3, 10.0, "braille")
    assert rows == [" ⢸⠉", " ⢸ ", "⣀⡸ "]


def test_extremes_are_drawn_from_lowest_to_highest() -> None:
    spread: list[Column] = [None, *[(0.2, 0.8)] * 4]
    assert rows_of(spread, 2, 1.0, "braille") == ["⣶⣶", "⠿⠿"]


def test_gaps_stay_blank_and_are_not_joined() -> None:
    assert rows_of(points(1, 1, None, None, 1, 1), 1, 1.0, "braille") == ["⠉ ⠉"]
    assert rows_of(points(0, 0, None, None, 1, 1), 2, 1.0, "braille") == ["  ⠉", "⣀  "]


def test_a_single_point_and_nothing_at_all() -> None:
    assert rows_of(points(0.5, None), 1, 1.0, "braille") == ["⠂"]
    assert rows_of(points(None, None, None, None), 2, 1.0, "braille") == ["  ", "  "]


def test_the_first_column_is_joined_to_the_one_before_the_window() -> None:
    before: list[Column] = [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)]
    assert rows_of(before, 2, 1.0, "braille") == ["⡏", "⠇"]


def test_values_outside_the_range_stay_at_its_edge() -> None:
    assert rows_of(points(-5, 99), 1, 1.0, "braille") == ["⡸"]


def test_blocks_are_bars_from_the_bottom() -> None:
    assert rows_of(points(*range(9)), 2, 8.0, "block") == ["    ▁▂▄▆█", "▁▃▅▇█████"]
    assert rows_of(points(1, None, 0), 1, 1.0, "block") == ["█ ▁"]


def test_ascii_has_two_levels_a_row() -> None:
    assert rows_of(points(*range(8)), 2, 7.0, "ascii") == ["    ..''", "..''    "]
    assert rows_of(points(0, 0, 10, 10), 2, 10.0, "ascii") == ["  :'", "..' "]


@pytest.mark.parametrize("kind", GLYPH_NAMES)
@pytest.mark.parametrize(("width", "height"), [(1, 1), (7, 3), (40, 10)])
def test_every_row_has_its_width(kind: GlyphName, width: int, height: int) -> None:
    columns = points(*[number * 37 % 11 for number in range(width * COLUMNS_PER_CELL[kind])])
    rows = rows_of(columns, height, 10.0, kind)
    assert [len(row) for row in rows] == [width] * height


@pytest.mark.parametrize("top", [0.0, -1.0])
def test_a_range_of_nothing_does_not_divide_by_zero(top: float) -> None:
    assert rows_of(points(1, 1), 1, top, "braille") == ["⣀"]


@pytest.mark.parametrize(
    ("glyphs", "rows"),
    [
        ("braille", ["⠉⠉", "⣤⣤", "⣿⣿"]),
        ("block", ["░░", "▄▄", "██"]),
        ("ascii", ["''''", "....", "::::"]),
    ],
)
def test_a_second_curve_is_a_filled_area_below_the_line(glyphs: GlyphName, rows: list[str]) -> None:
    line, area = points(*[1.0] * 4), points(*[0.5] * 4)
    drawn = rows_of(line, 3, 1.0, glyphs, area)
    cells = 4 // COLUMNS_PER_CELL[glyphs]
    assert [row[:cells] for row in drawn] == [(row * 2)[:cells] for row in rows]


def test_an_area_is_seen_from_its_first_bit_on_and_not_where_it_is_0_or_unknown() -> None:
    line = points(*[1.0] * 6)
    drawn = rows_of(line, 2, 1.0, "braille", points(0.001, 0.001, 0.0, 0.0, None, None))
    assert drawn == ["⠉⠉⠉", "⣀  "]
