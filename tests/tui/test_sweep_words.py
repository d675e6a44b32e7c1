"""What the sweep's screen says of a marked point."""

from __future__ import annotations

import pytest
from msgspec import structs

from gputrain_tui.screens.sweep_words import about_point
from sweep_files import missing, point


def test_time_and_rate_of_the_whole_step_stand_side_by_side() -> None:
    (line,) = about_point(point(8, 10.0, steps=2), [])
    assert "whole step " in line and " ms, " in line.partition("whole step ")[2]
    step_ms, rate = line.partition("whole step ")[2].split(" ms, ")
    assert float(rate.split(" samples/s of it")[0].replace(",", "")) == pytest.approx(
        8 / float(step_ms) * 1e3, rel=0.01
    )


@pytest.mark.parametrize(("noisy", "told"), [(False, ", 34 % of its"), (True, ", about 34 % of its")])
def test_a_share_of_a_noisy_ceiling_is_about_so_much(noisy: bool, told: str) -> None:
    result = structs.replace(point(8, 10.0), share_of_ceiling=0.34, ceiling_noisy=noisy)
    (line,) = about_point(result, [])
    assert f"{told} ceiling" in line


def test_without_a_probe_there_is_no_share_and_without_figures_the_reason() -> None:
    assert "ceiling" not in about_point(point(8, 10.0), [])[0]
    assert about_point(missing(8), [])[0].endswith("missing: out of memory")
