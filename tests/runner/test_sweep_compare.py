"""Two sweeps set side by side."""

from __future__ import annotations

import pytest
from msgspec import structs, to_builtins

from fake_sweep_worker import plan, tiny
from gputrain_runner.recordings.compare import NotComparableError
from gputrain_runner.sweep import SweepFile
from gputrain_runner.sweep.compare import SweepComparison, compare
from gputrain_runner.sweep.result import ms_of
from sweep_files import HOST, missing, point, sweep


def compared(a: SweepFile, b: SweepFile, *, anyway: bool = False) -> SweepComparison:
    return compare(("a.json", a), ("b.json", b), anyway)


def test_a_sweep_compared_with_itself_shows_no_difference() -> None:
    one = sweep(point(8, 10.0), point(16, 15.0), missing(32))
    found = compared(one, one)
    assert (found.settings, found.measuring, found.machine, found.warnings) == ([], [], [], [])
    assert [row.settings.batch_size for row in found.rows] == [8, 16, 32]
    for row in found.rows[:2]:
        assert row.ratio is not None and row.ratio.ratio == 1.0 and not row.ratio.beyond_noise
    assert found.rows[2].ratio is None and not found.rows[2].lost


def test_times_and_rates_are_of_whole_steps_as_a_sweep_tells_them() -> None:
    one = structs.replace(point(8, 10.0), ms=ms_of([9.0]))  # Forward and backward alone.
    (row,) = compared(sweep(one), sweep(point(8, 5.0))).rows
    assert one.step_ms is not None and row.a_ms is not None
    assert row.a_ms == one.step_ms.median
    assert row.a is not None and row.a.median == pytest.approx(one.samples_per_s)
    assert row.a.median == pytest.approx(8 / row.a_ms * 1e3)


def test_a_known_ratio_lies_in_its_interval() -> None:
    covered = 0
    for repeat in range(20):
        found = compared(sweep(point(8, 10.0, 2 * repeat)), sweep(point(8, 8.0, 2 * repeat + 1)))
        rate = found.rows[0].ratio
        assert rate is not None and rate.beyond_noise
        covered += rate.low <= 1.25 <= rate.high
    assert covered >= 18


def test_a_setting_that_differs_altogether_is_named_and_left_out_of_the_matching() -> None:
    a = sweep(point(8, 10.0), point(16, 15.0))
    b = sweep(point(8, 5.0, precision="bf16"), point(16, 7.0, precision="bf16"))
    found = compared(a, b)
    assert [(each.name, each.a, each.b) for each in found.settings] == [("precision", "fp32", "bf16")]
    assert len(found.rows) == 2 and found.rows[0].a_ms is not None
    rate = found.rows[0].ratio
    assert rate is not None and rate.low < 2.0 < rate.high


def test_another_device_is_a_difference_of_settings_and_machine() -> None:
    found = compared(sweep(point(8, 10.0)), sweep(point(8, 1.0, device="cuda:0"), host=HOST))
    assert [each.name for each in found.settings] == ["device"]
    assert [(each.name, each.a, each.b) for each in found.machine] == [("devices", "a CPU", "a GPU")]


def test_machine_and_measuring_come_before_the_figures() -> None:
    other = sweep(
        point(8, 10.0), host=structs.replace(HOST, torch="2.14"), runs=10, plan=plan(8, shared=True)
    )
    found = compared(sweep(point(8, 10.0), plan=plan(8)), other)
    assert [(each.name, each.a, each.b) for each in found.machine] == [("torch", "2.13", "2.14")]
    assert [(each.name, each.a, each.b) for each in found.measuring] == [
        ("runs", 60, 10),
        ("process", "one for each point", "shared"),
    ]


def test_points_of_one_side_alone_are_told() -> None:
    found = compared(sweep(point(8, 1.0), point(16, 1.0)), sweep(point(16, 1.0), point(32, 1.0)))
    assert [row.settings.batch_size for row in found.rows] == [16]
    assert [each.settings.batch_size for each in found.only_a] == [8]
    assert [each.settings.batch_size for each in found.only_b] == [32]


def test_what_was_measured_and_is_no_more_is_lost() -> None:
    found = compared(sweep(point(8, 1.0), point(16, 1.0)), sweep(point(8, 1.2), missing(16)))
    assert [row.lost for row in found.rows] == [False, True]
    assert found.worst is not None and found.worst.settings.batch_size == 8


def test_the_worst_row_is_the_one_that_fell_most() -> None:
    a = sweep(point(8, 1.0), point(16, 1.0), point(32, 1.0))
    found = compared(a, sweep(point(8, 1.1), point(16, 2.0), point(32, 0.5)))
    assert found.worst is not None and found.worst.settings.batch_size == 16


def test_different_work_is_refused_with_the_reason() -> None:
    a = sweep(point(8, 1.0))
    forward = point(8, 1.0, passes="forward")
    with pytest.raises(NotComparableError, match="not comparable: passes differ, training and forward"):
        compared(a, sweep(forward))
    assert compared(a, sweep(forward), anyway=True).warnings == ["passes differ, training and forward"]
    named = sweep(structs.replace(point(8, 1.0), preset="huge"))
    with pytest.raises(NotComparableError, match="the presets differ, tiny and huge"):
        compared(a, named)
    assert len(compared(a, named, anyway=True).rows) == 1
    bigger = to_builtins(tiny())
    bigger["model"]["inputs"] = 5
    with pytest.raises(NotComparableError, match="tiny is another model in the two"):
        compared(a, sweep(point(8, 1.0), presets={"tiny": bigger}))


def test_the_size_a_preset_starts_with_is_no_other_model() -> None:
    large = to_builtins(tiny(default_size="large"))
    assert compared(sweep(point(8, 1.0)), sweep(point(8, 1.0), presets={"tiny": large})).warnings == []


def test_nothing_in_common_and_unfinished_sweeps() -> None:
    with pytest.raises(NotComparableError, match="no point in common"):
        compared(sweep(point(8, 1.0), point(16, 1.0)), sweep(point(32, 1.0), point(64, 1.0)))
    part = sweep(point(8, 1.0), complete=False, planned=9)
    assert compared(part, part).warnings[0] == "a.json is not complete: 1 of 9 points are measured"
