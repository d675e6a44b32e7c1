"""The line through step times."""

from __future__ import annotations

import pytest

from gputrain_runner.step_fit import crossing, fit


def test_a_published_sweep_gives_its_published_line() -> None:
    """Caffe2, Inception on a Titan X, forward and backward: 18.9 ms a step and 3.37 ms an image."""
    line = fit([16, 32, 64, 128], [72.7, 127.5, 233.6, 450.6])
    assert line is not None
    assert line.a_ms == pytest.approx(18.9, abs=0.05)
    assert line.c_ms == pytest.approx(3.37, abs=0.005)
    assert line.half == pytest.approx(5.6, abs=0.05)
    assert max(abs(residual) for residual in line.residuals) <= 0.007
    assert line.standing_out == []


def test_a_point_off_the_line_stands_out() -> None:
    times = [2 + 0.1 * b for b in (8, 16, 32, 64, 128)]
    times[2] *= 1.2
    line = fit([8, 16, 32, 64, 128], times)
    assert line is not None and 2 in line.standing_out


def test_one_size_is_no_line() -> None:
    assert fit([], []) is None
    assert fit([8], [1.0]) is None
    assert fit([8, 8], [1.0, 1.1]) is None


def test_points_may_come_in_any_order() -> None:
    line = fit([64, 8, 32], [6.4 + 1, 0.8 + 1, 3.2 + 1])
    assert line is not None and line.x == [8, 32, 64]
    assert line.a_ms == pytest.approx(1.0) and line.c_ms == pytest.approx(0.1)


def test_where_two_lines_cross() -> None:
    slow_start, slow_slope = fit([1, 100], [10.1, 20]), fit([1, 100], [1.0, 100.0])
    assert slow_start is not None and slow_slope is not None
    assert crossing(slow_start, slow_slope) == pytest.approx(11.1, abs=0.1)
    assert crossing(slow_start, slow_start) is None
