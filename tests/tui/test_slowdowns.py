"""Why a GPU is slow, in words and with since when."""

from __future__ import annotations

from typing import Any

import pytest

from gpus import gpu
from gputrain_tui.slowdowns import SlowdownWatch


def told(*seconds: tuple[float, list[str]], **values: Any) -> list[tuple[str, str]]:
    """What is said after samples with these reasons; text and weight."""
    watch = SlowdownWatch()
    now = gpu(throttled={}, **values)
    for t_s, reasons in seconds:
        now = gpu(throttled={}, throttle=reasons, **values)
        watch.take(t_s, now)
    return [(each.text, each.weight) for each in watch.told(now)]


def test_a_power_cap_at_full_load_is_normal() -> None:
    samples = [(10.0 + t, ["sw_power_cap"]) for t in range(200)]
    assert told(*samples, power_w=695.0) == [("power cap for 3 min: normal at full load", "normal")]


def test_a_power_cap_far_below_the_limit_is_not() -> None:
    assert told((133.0, ["sw_power_cap"])) == [
        ("power cap since 02:13, though it draws 142 of 700 W", "warning")
    ]


def test_heat_names_the_clock_that_is_left() -> None:
    assert told((133.0, ["sw_thermal_slowdown"])) == [
        ("thermal: SM clock 1,410 of 1,980 MHz since 02:13", "warning")
    ]


def test_a_general_reason_is_not_told_beside_the_one_that_explains_it() -> None:
    assert told((61.0, ["hw_slowdown", "hw_power_brake"])) == [
        ("power brake from outside the card: SM clock 1,410 of 1,980 MHz since 01:01", "warning")
    ]
    assert told((61.0, ["hw_slowdown"]))[0][0].startswith("slowed by the hardware")


def test_the_most_worrying_comes_first() -> None:
    found = told((1.0, ["idle", "application_clocks", "hw_thermal_slowdown"]))
    assert [weight for _, weight in found] == ["warning", "note", "normal"]


def test_a_reason_that_flickers_keeps_its_since_and_one_that_went_does_not() -> None:
    flickering = [(float(t), ["sw_thermal_slowdown"] if t % 2 else []) for t in range(1, 20)]
    assert told(*flickering)[0][0].endswith("since 00:01")
    gone = [(1.0, ["sw_thermal_slowdown"]), (2.0, []), (5.0, [])]
    assert told(*gone) == []
    assert told(*gone, (9.0, ["sw_thermal_slowdown"]))[0][0].endswith("since 00:09")


def test_what_the_counters_saw_between_two_looks_is_told_too() -> None:
    watch = SlowdownWatch()
    now = gpu(throttle=[], throttled={"hw_thermal_slowdown": 0.2, "sync_boost": 0.001})
    watch.take(7.0, now)
    assert [each.reason for each in watch.told(now)] == ["hw_thermal_slowdown"]


def test_without_a_clock_there_is_no_figure() -> None:
    text, _ = told((1.0, ["sw_thermal_slowdown"]), sm_clock_mhz=None)[0]
    assert text == "thermal: clocks lowered since 00:01"


@pytest.mark.parametrize("reason", ["reason_bit_14", "something_new"])
def test_a_reason_of_a_newer_driver_is_named_as_it_is(reason: str) -> None:
    ((text, weight),) = told((1.0, [reason]))
    assert text.startswith(reason.replace("_", " "))
    assert weight == "note"


def test_a_driver_that_tells_no_reasons_is_not_one_without_reasons() -> None:
    watch = SlowdownWatch()
    watch.take(1.0, gpu(throttle=None, throttled=None))
    assert not watch.known
