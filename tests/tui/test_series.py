from __future__ import annotations

import math
import random

from msgspec import structs

from fake_feed import FakeSession
from gpus import gpu
from gputrain_tui.history import History
from gputrain_tui.series import Series, Window


def filled(values: list[float | None], every_s: float = 1.0) -> Series:
    series = Series()
    for number, value in enumerate(values):
        series.append(number * every_s, value)
    return series


def test_columns_hold_the_extremes_of_their_interval() -> None:
    series = filled([1, 5, 2, 8, 3, 3])
    assert series.columns(0, 3, 2.0) == [(1, 5), (2, 8), (3, 3)]


def test_a_column_is_the_same_from_wherever_the_window_begins() -> None:
    series = filled([math.sin(number / 3) for number in range(400)], 0.25)
    whole = series.columns(0, 100, 1.3)
    for first in range(1, 60):
        assert series.columns(first, 20, 1.3) == whole[first : first + 20]


def test_nothing_where_nothing_was_measured() -> None:
    assert Series().columns(0, 3, 1.0) == [None, None, None]
    series = filled([4.0])
    assert series.columns(0, 3, 1.0) == [(4, 4), None, None]
    assert series.columns(5, 2, 1.0) == [None, None]


def test_columns_between_two_values_follow_a_straight_line() -> None:
    series = filled([0.0, 4.0], 4.0)
    columns = series.columns(0, 5, 1.0)
    assert columns == [(0, 0), (1.5, 1.5), (2.5, 2.5), (3.5, 3.5), (4, 4)]


def test_a_gap_is_not_bridged_and_a_long_silence_neither() -> None:
    series = Series()
    for t_s, value in ((0.0, 1.0), (2.0, None), (4.0, 1.0), (5.0, math.nan), (6.0, 1.0), (30.0, 1.0)):
        series.append(t_s, value)
    columns = series.columns(0, 31, 1.0)
    assert [x for x, column in enumerate(columns) if column] == [0, 4, 6, 30]


def test_the_last_value() -> None:
    assert Series().last is None
    assert filled([1.0, 2.0]).last == 2.0
    assert filled([1.0, None]).last is None
    assert filled([1.0, math.inf]).last is None


def test_what_comes_out_of_order_is_passed_over() -> None:
    series = filled([1.0, 2.0])
    seen = series.version
    series.append(0.5, 99.0)
    assert series.version == seen
    assert series.columns(0, 2, 1.0) == [(1, 1), (2, 2)]


def test_ten_minutes_stay_in_full_detail() -> None:
    series = Series()
    for number in range(4 * 3600):
        series.append(number / 4, float(number))
    now = 4 * 3600
    newest = series.columns(now - 2400, 2400, 0.25)
    assert newest == [(float(number), float(number)) for number in range(now - 2400, now)]


def test_a_day_is_kept_with_its_extremes_in_bounded_memory() -> None:
    series = Series()
    for number in range(40 * 3600):
        # One value in a thousand is a spike; none of them may be thinned away.
        series.append(float(number), 100.0 if number % 1000 == 0 else 1.0)
    assert series.size_bytes < 250_000
    assert series.columns(16, 24, 3600.0) == [(1.0, 100.0)] * 24
    assert series.columns(0, 1, 3600.0) == [None]


def test_a_window_that_moves_along_shows_what_a_fresh_one_would() -> None:
    chance = random.Random(4)
    series, window = Series(), Window()
    t_s = 0.0
    for _ in range(500):
        t_s += chance.choice([0.25, 0.25, 0.5, 3.0, 14.0])
        series.append(t_s, None if chance.random() < 0.1 else chance.random())
        first = max(0, math.floor(t_s / 0.7) - chance.choice([38, 38, 20]))
        assert window.columns(series, first, 40, 0.7) == series.columns(first, 40, 0.7)
    for first in range(series.version, series.version + 4000, 500):
        assert window.columns(series, first, 40, 0.7) == series.columns(first, 40, 0.7)
    other = filled([1.0, 2.0])
    assert window.columns(other, 0, 4, 1.0) == other.columns(0, 4, 1.0)
    assert window.columns(other, 0, 2, 2.0) == other.columns(0, 2, 2.0)


def test_gaps_survive_thinning() -> None:
    series = Series(full_points=10)
    for number in range(400):
        series.append(float(number), None if 100 <= number < 200 else 1.0)
    columns = series.columns(0, 40, 10.0)
    assert [x for x, column in enumerate(columns) if column is None] == list(range(10, 20))


def test_a_screen_keeps_ten_minutes_whole_and_a_day_thinned_of_everything_it_plots() -> None:
    session = FakeSession(gpu=True)
    history = History(session)
    plotted = [name for name in history.series if name.startswith(("pcie", "sm_", "gpu_"))]
    began = session.sample(1e6)
    day_s = 26 * 3600
    for t in range(0, day_s, 2):
        # One busy moment each hour, which must be seen a day later.
        busy = t % 3600 == 1800
        values = gpu(
            utilisation=0.9 if busy else 0.1,
            sm_clock_mhz=1980 if busy else 345,
            pcie_rx_bytes_per_s=9e9 if busy else 1e6,
        )
        history._take_sample(structs.replace(began, t=float(t), gpus=[values]))
    for name, low, high in (
        ("gpu_utilisation", 0.1, 0.9),
        ("sm_clock_mhz", 345, 1980),
        ("pcie_rx", 1e6, 9e9),
    ):
        series = history.series[name]
        assert series.columns(2, 24, 3600.0) == [(low, high)] * 24
        whole = series.columns(day_s // 2 - 300, 300, 2.0)
        assert len(whole) == 300
        assert all(column is not None and column[0] == column[1] for column in whole)
    assert max(history.series[name].size_bytes for name in plotted) < 250_000
    assert sum(series.size_bytes for series in history.series.values()) < 4_000_000
