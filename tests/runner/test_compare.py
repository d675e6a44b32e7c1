"""Two recordings set side by side."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from msgspec import structs

from gputrain_runner.recorder import Recorder
from gputrain_runner.recordings import RecordingFile
from gputrain_runner.recordings.bootstrap import ratio
from gputrain_runner.recordings.compare import NotComparableError, Side, compare, side
from gputrain_runner.settings import Settings
from timelines import SETTINGS, header, sample, summary


def noisy(median: float, count: int, seed: int, *, spread: float = 0.08) -> list[float]:
    """A rate with noise that lasts: each sample remembers most of the one before."""
    chance = random.Random(seed)
    drift, values = 0.0, []
    for _ in range(count):
        drift = 0.7 * drift + chance.gauss(0, spread * 0.5)
        values.append(median * (1 + drift + chance.gauss(0, spread * 0.3)))
    return values


def recorded(path: Path, rates: list[float], settings: Settings = SETTINGS, preset: str = "tiny") -> Side:
    head = header(torch="2.13")
    session = structs.replace(head.session, preset={"name": preset, "model": {"kind": "mlp"}})
    recorder = Recorder(path, structs.replace(head, session=session))
    for position, rate in enumerate(rates):
        recorder.write(position, sample(position / 4, samples_per_s=rate, settings=settings))
    recorder.complete(summary())
    return side(RecordingFile(path))


def rate_of(a: Side, b: Side, *, anyway: bool = False):  # type: ignore[no-untyped-def]
    rows = compare(a, b, anyway).rows
    return next(row for row in rows if row.name == "samples/s").ratio


def test_a_recording_compared_with_itself_shows_no_difference(tmp_path: Path) -> None:
    it = recorded(tmp_path / "x.json", noisy(1000, 80, 1))
    found = compare(it, it)
    assert found.settings == [] and found.machine == [] and found.warnings == []
    assert {row.name for row in found.rows} >= {"samples/s", "step, median", "forward", "CPU utilisation"}
    for row in found.rows:
        assert row.ratio is not None and row.ratio.ratio == 1.0 and not row.ratio.beyond_noise
        assert row.ratio.low <= 1.0 <= row.ratio.high


def test_a_known_ratio_lies_in_its_interval(tmp_path: Path) -> None:
    covered = beyond = 0
    for repeat in range(20):
        a = noisy(1000, 80, 2 * repeat)
        b = noisy(1850, 80, 2 * repeat + 1)
        found = ratio(a, b)
        assert found is not None
        covered += found.low <= 1.85 <= found.high
        beyond += found.beyond_noise
    assert covered >= 18 and beyond == 20


def test_equal_rates_are_seldom_called_different() -> None:
    called = 0
    for repeat in range(40):
        found = ratio(noisy(1000, 80, 100 + repeat), noisy(1000, 80, 900 + repeat))
        assert found is not None
        called += found.beyond_noise
    assert called <= 3


def test_a_slow_stretch_that_lasts_is_no_difference(tmp_path: Path) -> None:
    """Half of one run was slow, the machine being busy: what that run says of the ratio is little."""
    a = noisy(1000, 80, 1, spread=0.01)
    b = [*noisy(1040, 30, 2, spread=0.01), *noisy(700, 50, 3, spread=0.01)]
    found = ratio(a, b)
    assert found is not None
    assert found.ratio < 0.75 and found.low < 1 < found.high and not found.beyond_noise
    told = compare(recorded(tmp_path / "a.json", a), recorded(tmp_path / "b.json", b)).warnings
    assert len(told) == 1
    assert re.search(r"b\.json: its rate wandered between [67]\d\d and 1,0\d\d samples/s", told[0])


def test_what_does_not_vary_is_told_exactly() -> None:
    found = ratio([1000.0] * 20, [1010.0] * 20)
    assert found is not None and found.low == found.high == found.ratio == 1.01


def test_two_runs_that_do_not_drift_may_differ_by_the_floor() -> None:
    found = ratio(noisy(1000, 80, 1, spread=0.001), noisy(1000, 80, 2, spread=0.001))
    assert found is not None and found.low < 0.975 and found.high > 1.025


def test_zeros_now_and_then_are_no_error() -> None:
    found = ratio([0.0, 0.0, 0.0, 5.0] * 10 + [5.0] * 60, [0.0] * 30 + [6.0] * 70)
    assert found is not None and not found.beyond_noise


def test_few_and_missing_values_promise_nothing() -> None:
    assert ratio([], [1.0]) is None and ratio([0.0, 0.0], [1.0]) is None
    two = ratio([1.0, 1.0], [2.0, 2.0])
    assert two is not None and two.ratio == 2.0 and not two.beyond_noise


def test_settings_that_differ_come_first(tmp_path: Path) -> None:
    larger = structs.replace(SETTINGS, batch_size=2048)
    a = recorded(tmp_path / "a.json", noisy(1000, 60, 1))
    b = recorded(tmp_path / "b.json", noisy(2000, 60, 2), larger)
    found = compare(a, b)
    assert [(each.name, each.a, each.b) for each in found.settings] == [("batch_size", 1024, 2048)]
    told = rate_of(a, b)
    assert told.beyond_noise and told.low < 2.0 < told.high


def test_different_work_is_refused_with_the_reason(tmp_path: Path) -> None:
    a = recorded(tmp_path / "a.json", noisy(1000, 40, 1))
    other = recorded(tmp_path / "b.json", noisy(1000, 40, 2), preset="huge")
    with pytest.raises(NotComparableError, match="the presets differ, tiny and huge"):
        compare(a, other)
    forward = recorded(tmp_path / "c.json", noisy(1000, 40, 3), structs.replace(SETTINGS, passes="forward"))
    with pytest.raises(NotComparableError, match="passes differ, training and forward"):
        compare(a, forward)
    assert compare(a, other, anyway=True).warnings == ["the presets differ, tiny and huge"]


def test_the_last_settings_that_gave_a_rate_are_taken(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    recorder = Recorder(path, header(torch="2.13"))
    larger = structs.replace(SETTINGS, batch_size=2048)
    for position in range(40):
        settings = SETTINGS if position < 20 else larger
        recorder.write(position, sample(position / 4, settings=settings, samples_per_s=1000.0 + position))
    recorder.write(40, sample(10.0, settings=structs.replace(SETTINGS, batch_size=1)))
    recorder.complete(summary())
    taken = side(RecordingFile(path))
    assert taken.settings.batch_size == 2048 and len(taken.samples) == 20
    assert compare(taken, taken).warnings[0].endswith("the last that gave a steady rate are compared")


def test_too_short_a_session_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotComparableError, match="too short"):
        recorded(tmp_path / "x.json", [1000.0, 1001.0])
