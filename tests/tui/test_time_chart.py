from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from gputrain_tui import format
from gputrain_tui.series import Series
from gputrain_tui.widgets.time_chart import Marker, TimeChart
from showing import shown


def series_of(value: Callable[[float], float | None], until_s: float, every_s: float = 0.25) -> Series:
    series = Series()
    for number in range(round(until_s / every_s) + 1):
        series.append(number * every_s, value(number * every_s))
    return series


async def test_labels_line_and_axis() -> None:
    chart = TimeChart(window_s=30.0)
    series = series_of(lambda t: 5e5 if t < 10 else 1.5e6, 20.0)
    async with shown(chart, size=(38, 6)) as (app, pilot):
        chart.show(series, 20.0, [Marker(10.0, "batch 256→512")])
        await pilot.pause()
        assert app.rows() == [
            "   2 M ┤",
            "       │          ⡖⠒⠒⠒⠒⠒⠒⠒⠒⠒⠂",
            "   1 M ┤          ⡇",
            "       │⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠃",
            "       │",
            "     0 ┼┴00:00────▲batch 256→512──────",
        ]


async def test_a_gap_is_blank() -> None:
    chart = TimeChart(window_s=20.0, axis=False, y_max=1.0)
    series = series_of(lambda t: None if 5 <= t < 10 else 0.0, 15.0)
    async with shown(chart, size=(20, 1)) as (app, pilot):
        chart.show(series, 15.0)
        await pilot.pause()
        assert app.rows() == ["⣀⣀⣀⣀⣀     ⣀⣀⣀⣀⣀⡀"]


async def test_before_anything_is_measured_the_axes_stand_alone() -> None:
    chart = TimeChart(y_max=1.0, y_format=format.percent, window_s=30.0)
    async with shown(chart, size=(20, 4)) as (app, _):
        assert app.rows() == [" 100 % ┤", "       │", "       │", "   0 % ┼┴00:00──────"]


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (8, 2), (9, 3), (13, 2), (300, 60)])
async def test_any_size_can_be_drawn(size: tuple[int, int]) -> None:
    chart = TimeChart(window_s=60.0)
    series = series_of(lambda t: 2.0 + math.sin(t), 50.0)
    async with shown(chart, size=size) as (app, pilot):
        chart.show(series, 50.0, [Marker(10.0, "batch 1→2")])
        await pilot.pause()
        assert len(app.rows()) == size[1]
        assert max(map(len, app.rows())) <= size[0]


async def test_the_window_stands_still_and_then_moves_on_by_a_tenth() -> None:
    chart = TimeChart(window_s=20.0, axis=False, y_max=1.0)
    series = Series()
    async with shown(chart, size=(20, 1)) as (app, pilot):
        seen = []
        for second in range(25):
            series.append(float(second), 0.0)
            chart.show(series, float(second))
            await pilot.pause()
            seen.append(len(app.rows()[0]))
        # It grows to the full width, falls back by the room that is made, and grows again.
        assert seen == [*range(1, 21), 19, 20, 19, 20, 19]


async def test_what_has_been_drawn_does_not_change_while_it_moves() -> None:
    noise = random.Random(5)
    series = Series()
    chart = TimeChart(window_s=20.0, axis=False, y_max=1.0)
    async with shown(chart, size=(20, 3)) as (app, pilot):
        before: list[str] = []
        for number in range(120):
            series.append(number / 4, noise.random())
            chart.show(series, number / 4)
            await pilot.pause()
            rows = [row.ljust(20) for row in app.rows()]
            done = number // 4
            if before and number < 80:
                assert [row[:done] for row in rows] == [row[:done] for row in before]
            if number == 80:
                assert [row[:16] for row in rows] == [row[2:18] for row in before]
            before = rows


async def test_the_range_follows_the_values_and_its_labels_with_it() -> None:
    chart = TimeChart(window_s=30.0)
    series = Series()
    async with shown(chart, size=(30, 3)) as (app, pilot):
        series.append(0.0, 70.0)
        chart.show(series, 0.0)
        await pilot.pause()
        assert app.rows()[0].startswith("   100 ┤")
        series.append(1.0, 130.0)
        chart.show(series, 1.0)
        await pilot.pause()
        assert app.rows()[0].startswith("   200 ┤")


async def test_the_window_can_be_made_longer() -> None:
    chart = TimeChart(window_s=10.0, axis=False, y_max=1.0)
    series = series_of(lambda t: 0.0, 20.0)
    async with shown(chart, size=(20, 1)) as (app, pilot):
        chart.show(series, 9.0)
        chart.window_s = 40.0
        await pilot.pause()
        assert chart.window_s == 40.0
        assert app.rows() == ["⣀" * 10 + "⡀"]


async def test_an_earlier_time_shows_the_earlier_window() -> None:
    chart = TimeChart(window_s=10.0, axis=False, y_max=1.0)
    series = series_of(lambda t: 0.0, 100.0)
    async with shown(chart, size=(20, 1)) as (app, pilot):
        chart.show(series, 95.0)
        chart.show(series, 3.0)
        await pilot.pause()
        assert app.rows() == ["⣀" * 20]


async def test_one_new_value_rewrites_the_rows_it_touches_alone() -> None:
    chart = TimeChart(window_s=100.0)
    series = series_of(lambda t: 0.75 if t < 40 else 0.25, 50.0)
    async with shown(chart, size=(108, 13), diff=False) as (app, pilot):
        chart.show(series, 50.0)
        await pilot.pause()
        app.take_sent()
        series.append(51.0, 0.25)
        chart.show(series, 51.0)
        await pilot.pause()
        # Plain Textual: one of twelve rows, from its left edge to the newest column; nothing of the labels.
        assert app.take_sent().count(b"H") == 1


async def test_nothing_is_sent_where_nothing_can_be_seen_to_change() -> None:
    chart = TimeChart(window_s=100.0)
    series = series_of(lambda t: 0.5, 50.0)
    async with shown(chart, size=(60, 8), diff=False) as (app, pilot):
        chart.show(series, 50.0)
        await pilot.pause()
        app.take_sent()
        chart.show(series, 50.1)
        series.append(50.1, 0.5)
        chart.show(series, 50.1)
        await pilot.pause()
        assert app.take_sent() == b""


async def test_a_hidden_chart_costs_nothing_and_catches_up() -> None:
    chart = TimeChart(window_s=20.0, axis=False, y_max=1.0)
    series = series_of(lambda t: 0.0, 5.0)
    async with shown(chart, size=(20, 2)) as (app, pilot):
        chart.show(series, 5.0)
        chart.display = False
        await pilot.pause()
        app.take_sent()
        for number in range(6, 11):
            series.append(float(number), 0.0)
            chart.show(series, float(number))
        await pilot.pause()
        assert app.take_sent() == b""
        chart.display = True
        await pilot.pause()
        assert app.rows()[1] == "⣀" * 10 + "⡀"


async def test_a_noisy_chart_costs_tens_of_bytes_a_second() -> None:
    noise = random.Random(1)
    chart = TimeChart(window_s=120.0)
    series = Series()
    for number in range(480):
        series.append(number / 4, 1e6 * noise.gauss(1, 0.02))
    async with shown(chart, size=(85, 12)) as (app, pilot):
        chart.show(series, 119.75)
        await pilot.pause()
        app.take_sent()
        for number in range(480, 640):
            series.append(number / 4, 1e6 * noise.gauss(1, 0.02))
            if number % 4 == 3:
                chart.show(series, number / 4)
                await pilot.pause()
        # Drawn once a second, moves of the window included.
        assert len(app.take_sent()) / 40 < 70
