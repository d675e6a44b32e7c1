"""Curves of time against batch size, as characters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from fake_sweeps import result_of
from gputrain_presets import load
from gputrain_runner.settings import initial
from gputrain_runner.sweep import Point
from gputrain_runner.sweep.fits import fits_of
from gputrain_tui.sweep_matrix import Curve, Matrix
from gputrain_tui.widgets.batch_chart import plot_rows
from gputrain_tui.widgets.glyphs import GlyphName, set_glyphs
from gputrain_tui.widgets.text import runs_of, text_of

INCEPTION = {16: 72.7, 32: 127.5, 64: 233.6, 128: 450.6}


@pytest.fixture(autouse=True)
def braille() -> Iterator[None]:
    yield
    set_glyphs("braille")


def point(batch: int, passes: str = "training", device: str = "cpu") -> Point:
    settings = initial(load("googlenet"), device).with_value("batch_size", batch)
    return Point(preset="googlenet", settings=settings.with_value("passes", passes))


def curve(times: dict[int, float], number: int = 0) -> Curve:
    fits = fits_of([result_of(point(batch), ms) for batch, ms in times.items()])
    return Curve("training", list(times.items()), fits[0] if fits else None, number)


def drawn(curves: list[Curve], width: int = 60, height: int = 14, kind: GlyphName = "braille") -> list[str]:
    set_glyphs(kind)
    return [text_of(runs_of(line)).rstrip() for line in plot_rows(curves, width, height, kind)]


def test_marks_lie_on_the_line_and_rise() -> None:
    rows = drawn([curve(INCEPTION)])
    assert len(rows) == 14 and all(len(row) <= 60 for row in rows)
    marks = [(row.index("●"), at) for at, row in enumerate(rows) if "●" in row]
    columns = [column for column, _ in sorted(marks)]
    heights = [at for _, at in sorted(marks)]
    assert len(marks) == 4 and heights == sorted(heights, reverse=True)
    assert columns[0] == 9 and columns[-1] == 59
    # The batch sizes double, so they are equally far apart.
    assert len({after - before for before, after in pairwise(columns)}) <= 2
    assert "⠒" in "".join(rows) or "⠤" in "".join(rows)


def test_axes_carry_round_times_and_the_batch_sizes() -> None:
    rows = drawn([curve(INCEPTION)])
    assert "200 ms ┤" in "".join(rows) and "100 ms ┤" in "".join(rows)
    assert rows[-2].startswith("        ┼───")
    assert rows[-1].split() == ["16", "32", "64", "128"]
    many = drawn([curve({batch: 1.0 + batch for batch in range(100, 140)})])[-1].split()
    assert many[-1] == "139" and len(many) < 12


def test_every_curve_keeps_its_mark() -> None:
    both = [curve(INCEPTION), curve({batch: ms / 3 for batch, ms in INCEPTION.items()}, 2)]
    text = "".join(drawn(both))
    assert text.count("●") == 4 and text.count("▲") == 4 and "○" not in text


def test_in_ascii_everything_is_ascii() -> None:
    rows = drawn([curve(INCEPTION)], kind="ascii")
    assert all(row.isascii() for row in rows) and "".join(rows).count("*") == 4 and "..." in "".join(rows)


@pytest.mark.parametrize("kind", ["braille", "block", "ascii"])
def test_odd_curves_are_drawn_all_the_same(kind: GlyphName) -> None:
    assert drawn([], kind=kind) == []
    assert drawn([curve(INCEPTION)], 20, 14, kind) == [] and drawn([curve(INCEPTION)], 60, 4, kind) == []
    one = drawn([curve({64: 5.0})], kind=kind)
    assert len(one) == 14 and one[-1].split() == ["64"]
    flat = drawn([curve({8: 1.0, 16: 1.0, 32: 1.0})], kind=kind)
    assert len(flat) == 14
    falling = drawn([curve({8: 30.0, 16: 20.0, 32: 10.0})], kind=kind)
    assert len(falling) == 14


def test_the_matrix_has_a_row_for_each_net_and_batch_and_a_column_for_each_device_and_passes() -> None:
    points = [
        point(batch, passes, device)
        for device in ("cuda:0", "cpu")
        for passes in ("forward", "training")
        for batch in (8, 16)
    ]
    matrix = Matrix(points)
    assert matrix.columns == [
        ("cuda:0", "forward"),
        ("cuda:0", "training"),
        ("cpu", "forward"),
        ("cpu", "training"),
    ]
    assert [(row.net, row.batch_size) for row in matrix.rows] == [("googlenet ×1", 8), ("googlenet ×1", 16)]
    results = {each.key: result_of(each, 1.0) for each in points[2:4]}
    (only,) = matrix.curves("googlenet ×1", results, [])
    assert (only.name, only.number, len(only.points)) == ("cuda:0 forward+backward", 1, 2)
