"""The parts of telemetry that are arithmetic."""

from __future__ import annotations

import math

import pytest

from gputrain_runner.telemetry import pcie
from gputrain_runner.telemetry.meter import Meter
from gputrain_runner.telemetry.metrics import METRICS
from gputrain_runner.telemetry.pace import EACH, TOTAL, Pace
from gputrain_runner.telemetry.pcie import Counts
from gputrain_runner.telemetry.question import Tier
from gputrain_runner.telemetry.reasons import decode
from gputrain_runner.timeline import Gpu, GpuDetail


def test_each_metric_fills_fields_of_its_own() -> None:
    fields = [name for metric in METRICS for name in metric.fields]
    assert len(fields) == len(set(fields))
    assert set(fields) <= {*Gpu.__struct_fields__, *GpuDetail.__struct_fields__} - {"index", "detail"}
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    assert all(metric.ways for metric in METRICS)


@pytest.mark.parametrize(
    ("bits", "names"),
    [
        (0, []),
        (0x4, ["sw_power_cap"]),
        (0x48, ["hw_slowdown", "hw_thermal_slowdown"]),
        (0x600, ["board_limit", "reliability"]),
        (1 << 14, ["reason_bit_14"]),
        (0xFFFFFFFF, None),
        (2**64 - 1, None),
    ],
)
def test_reasons(bits: int, names: list[str] | None) -> None:
    assert decode(bits) == names


def test_link_speed() -> None:
    assert pcie.link_bytes_per_s(3, 16) == pytest.approx(15.76e9)
    assert pcie.link_bytes_per_s(5, 16) == pytest.approx(63e9, rel=0.001)
    assert pcie.link_bytes_per_s(None, 16) is pcie.link_bytes_per_s(3, None) is None


def counts(at_s: float, tx: int, rx: int, wraps: bool = False) -> Counts:
    return Counts(at_s, tx, rx, wraps)


def test_rates_keep_their_directions() -> None:
    assert pcie.rates(counts(1.0, 100, 5_000), counts(1.5, 600, 9_000), 1e9) == (1_000, 8_000)


def test_rate_of_a_narrow_counter_that_went_round() -> None:
    before = counts(0.0, 2**32 - 100, 2**32 - 1, wraps=True)
    assert pcie.rates(before, counts(0.5, 400, 0, wraps=True), 1e9) == (1_000, 2)


def test_rate_of_a_narrow_counter_that_may_have_gone_round_unseen() -> None:
    before, after = counts(0.0, 0, 0, wraps=True), counts(0.5, 10, 10, wraps=True)
    assert pcie.rates(before, after, 2**33 - 1) == (20, 20)
    assert pcie.rates(before, after, 2**33) == (None, None)


def test_no_rate_after_a_reset_or_out_of_nothing() -> None:
    assert pcie.rates(counts(0.0, 2**40, 0), counts(1.0, 5, 5), 1e9) == (None, 5)
    assert pcie.rates(counts(1.0, 0, 0), counts(1.0, 5, 5), 1e9) == (None, None)
    assert pcie.rates(counts(0.0, 0, 0), counts(1.0, 2**50, 5), 1e9) == (None, 5)


def test_cheap_questions_are_asked_as_often_as_wanted() -> None:
    pace = Pace(gpus=1)
    for name in ("a", "b"):
        pace.note(name, 0.5, 0.001)
    pace.settle()
    assert pace.period_s("a") == 0.5


def test_costly_question_is_asked_rarely_and_spares_the_others() -> None:
    pace = Pace(gpus=1)
    for _ in range(2):
        pace.note("costly", 1.0, 0.040)
        pace.note("cheap", 0.5, 0.0001)
    pace.settle()
    assert pace.period_s("costly") == pytest.approx(0.040 / EACH)
    assert pace.period_s("cheap") == 0.5


def test_slow_driver_is_asked_for_no_more_than_the_budget() -> None:
    pace = Pace(gpus=8)
    questions = [(gpu, metric) for gpu in range(8) for metric in range(10)]
    for question in 2 * questions:
        pace.note(question, 0.5, 0.010)
    pace.settle()
    assert sum(0.010 / pace.period_s(question) for question in questions) == pytest.approx(TOTAL)


def test_one_slow_answer_is_forgiven() -> None:
    pace = Pace(gpus=1)
    pace.note("a", 0.5, 0.2)
    pace.note("a", 0.5, 0.0001)
    pace.settle()
    assert pace.period_s("a") == 0.5


def test_a_first_answer_alone_does_not_decide() -> None:
    """It may have come while everything else was starting, too."""
    pace = Pace(gpus=8)
    pace.note("a", 0.5, 0.2)
    pace.note("b", 0.5, 0.2)
    pace.settle()
    assert pace.period_s("a") == 5.0
    pace.note("a", 0.5, 0.0001)
    pace.settle()
    assert pace.period_s("a") == 0.5


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_time_in_the_driver_over_a_window() -> None:
    clock = Clock()
    meter = Meter(clock)
    assert meter.ms_per_s() is None
    for _ in range(20):
        with meter.timing():
            clock.now += 0.004
        clock.now += 0.996
    assert meter.ms_per_s() == pytest.approx(4.0, rel=0.15)
    assert meter.spent_s == pytest.approx(0.08)
    clock.now += 20
    assert meter.ms_per_s() == 0


def test_call_in_flight_counts() -> None:
    clock = Clock()
    meter = Meter(clock)
    with meter.timing():
        clock.now += 5
        assert meter.ms_per_s() == 1000


def test_tiers_are_in_order() -> None:
    assert [tier.value for tier in Tier] == sorted(tier.value for tier in Tier)
    assert Tier.ONCE.value == math.inf
