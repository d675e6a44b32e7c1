"""What is made of a sweep's times: medians, noise, lines, and the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from fake_sweep_worker import plan
from gputrain_runner.protocol import StepsTimed
from gputrain_runner.settings import Settings
from gputrain_runner.sweep import PointResult, SweepFile, SweepFileError, load, save
from gputrain_runner.sweep.fits import fits_of
from gputrain_runner.sweep.measuring import Answer
from gputrain_runner.sweep.reckoning import reckoned
from gputrain_runner.sweep.result import ms_of
from gputrain_runner.timeline import Host

INCEPTION = {16: 72.7, 32: 127.5, 64: 233.6, 128: 450.6}
"""Published: Caffe2, Inception on a Titan X, forward and backward, ms by batch size."""


def timed(settings: Settings, *times_ms: float) -> Answer:
    times = list(times_ms)
    answer = StepsTimed(
        at=1.0,
        outcome="ok",
        error=None,
        settings=settings,
        forward_ms=[ms / 3 for ms in times],
        forward_backward_ms=times,
        step_ms=[ms * 1.1 for ms in times],
    )
    return Answer("ok", None, answer)


def point(batch: int, *times_ms: float, before: PointResult | None = None) -> PointResult:
    (asked,) = plan(batch).points
    return reckoned(asked, before, timed(asked.settings, *times_ms), None, None)


def curve(times: dict[int, float]) -> list[PointResult]:
    return [point(batch, ms, ms) for batch, ms in times.items()]


def sweep_of(points: list[PointResult]) -> SweepFile:
    return SweepFile(
        started_at="2026-11-30T10:00:00.000+00:00",
        host=Host(os="Linux", cpu="a CPU", cores=2, memory_bytes=1, python="3.11", over_ssh=False),
        planned=len(points),
        runs=2,
        warmup=1,
        rounds=1,
        points=points,
        fits=fits_of(points),
    )


def test_medians_and_quartiles() -> None:
    found = ms_of([4.0, 1.0, 2.0, 3.0, 10.0])
    assert found is not None
    assert (found.median, found.iqr, found.min, found.max) == (3.0, 2.0, 1.0, 10.0)
    assert ms_of([]) is None
    one = ms_of([5.0])
    assert one is not None and (one.median, one.iqr) == (5.0, 0.0)


def test_a_wide_middle_half_is_noisy() -> None:
    assert not point(8, 10.0, 10.2, 10.4, 10.6).noisy
    assert point(8, 10.0, 11.0, 12.0, 13.0).noisy
    # One step far out says nothing of the others.
    assert not point(8, 10.0, 10.1, 10.2, 10.1, 90.0).noisy


def test_rounds_are_joined() -> None:
    first = point(8, 10.0, 10.0)
    both = point(8, 12.0, 12.0, before=first)
    assert both.rounds == 2 and both.runs == 4 and both.times.forward_backward == [10.0, 10.0, 12.0, 12.0]
    assert both.ms is not None and both.ms.median == 11.0


def test_a_round_that_fails_leaves_what_the_others_measured() -> None:
    first = point(8, 10.0, 10.0)
    (asked,) = plan(8).points
    after = reckoned(asked, first, Answer("out_of_memory", "out of memory"), None, None)
    assert after.outcome == "ok" and after.ms == first.ms and after.rounds == 2
    assert after.error == "round 2: out of memory: out of memory"


def test_telemetry_of_all_rounds_is_averaged() -> None:
    (asked,) = plan(8).points
    answer = timed(asked.settings, 1.0, 1.0)
    one = reckoned(asked, None, answer, {"power_w": 100.0, "utilisation": 0.5}, None)
    two = reckoned(asked, one, answer, {"power_w": 200.0}, None)
    three = reckoned(asked, two, answer, {"power_w": 300.0}, None)
    assert one.telemetry == {"power_w": 100.0, "utilisation": 0.5}
    assert three.telemetry == {"power_w": 200.0, "utilisation": 0.5}


def test_a_published_sweep_gives_its_published_line() -> None:
    (fit,) = fits_of(curve(INCEPTION))
    assert fit.a_ms == pytest.approx(18.9, abs=0.05)
    assert fit.c_ms == pytest.approx(3.37, abs=0.005)
    assert fit.half == pytest.approx(5.6, abs=0.05)
    assert fit.best == 128 and fit.bend == 64
    assert fit.batch_sizes == list(INCEPTION) and fit.ms == list(INCEPTION.values())
    assert max(abs(residual) for residual in fit.residuals) < 0.007
    assert fit.worse_than_fit == [] and fit.better_than_fit == []


def test_batch_sizes_that_stand_out_are_named() -> None:
    times = {b: 2 + 0.1 * b for b in (8, 16, 32, 64, 128, 256)}
    times[64] *= 1.25
    (fit,) = fits_of(curve(times))
    assert 64 in fit.worse_than_fit and 64 not in fit.better_than_fit
    times[64] *= 0.6
    (fit,) = fits_of(curve(times))
    assert 64 in fit.better_than_fit and fit.best == 64


def test_larger_is_not_always_better() -> None:
    """Published: VGG under TensorFlow 1.0 on a GTX 1080, 420.28 ms at batch 64 and 899.86 at 128."""
    (fit,) = fits_of(curve({32: 231.0, 64: 420.28, 128: 899.86}))
    assert fit.best == 64 and fit.bend == 32


def test_two_batch_sizes_are_no_line_and_families_are_apart() -> None:
    assert fits_of(curve({8: 1.0, 16: 2.0})) == []
    points = curve(INCEPTION)
    forward = [
        structs.replace(p, settings=p.settings.with_value("passes", "forward"), passes="forward")
        for p in points
    ]
    assert [fit.passes for fit in fits_of([*points, *forward])] == ["training", "forward"]
    failed = structs.replace(points[0], outcome="out_of_memory", ms=None)
    (fit,) = fits_of([failed, *points[1:]])
    assert fit.batch_sizes == [32, 64, 128]


def test_the_file_comes_back_as_it_was_with_numbers_on_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    sweep = sweep_of(curve(INCEPTION))
    save(path, sweep)
    assert load(path) == sweep
    lines = path.read_text().splitlines()
    assert any('"batch_sizes": [ 16, 32, 64, 128 ]' in line for line in lines)
    assert json.loads(path.read_text())["points"][0]["ms"]["median"] == 72.7


def test_fields_of_a_later_version_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save(path, sweep_of(curve(INCEPTION)))
    written = json.loads(path.read_text())
    written["mood"] = "good"
    written["points"][0]["mood"] = ["better"]
    del written["presets"], written["plan"]
    path.write_text(json.dumps(written))
    assert load(path).points == curve(INCEPTION)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no sweep: it is not JSON, or cut off"),
        (b"\xff\xfe", "is no sweep: it is not JSON, or cut off"),
        (b'{"schema": "gputrain-sweep", "version": 1, "poi', "is no sweep: it is not JSON, or cut off"),
        (b"[1, 2]", "is no sweep: it is JSON of another program; name a file that"),
        (b'{"a": 1}', "it is JSON of another program; name a file that `gputrain-tui sweep` wrote"),
        (b'{"schema": 5}', "is no sweep: it is JSON of another program; name a file that"),
        (b'{"schema": "https://json-schema.org", "version": "2"}', "is no sweep: it is JSON of another"),
        (b'{"schema": "gputrain-session", "version": 1}', "is no sweep: it is a session's recording; name a"),
        (b'{"schema": "gputrain-sweep", "version": 7}', "its version is 7, this program reads 1"),
        (b'{"schema": "gputrain-sweep", "version": 1}', "it is damaged, or no sweep"),
    ],
)
def test_what_is_no_sweep_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "y.json"
    path.write_bytes(content)
    with pytest.raises(SweepFileError) as refused:
        load(path)
    assert str(path) in str(refused.value) and said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_cannot_be_read_or_written_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SweepFileError, match="No such file"):
        load(tmp_path / "nothing.json")
    with pytest.raises(SweepFileError, match="Is a directory"):
        load(tmp_path)
    with pytest.raises(SweepFileError, match="choose another place"):
        save(tmp_path / "nowhere" / "x.json", sweep_of([]))
