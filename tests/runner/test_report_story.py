"""A recording told as a story, and its series thinned."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gputrain_presets import load
from gputrain_runner.recordings import UnreadableError
from gputrain_runner.recordings.compare import FEWEST, compare
from gputrain_runner.report import telling
from gputrain_runner.report.beside import as_rate, of_session
from gputrain_runner.report.story import Story
from gputrain_runner.report.telling import tell
from gputrain_runner.report.thinning import extremes, means
from gputrain_runner.timeline import Effect, Entry, Message, Rate
from report_recordings import START, TURNS, entries, write_session
from timelines import SETTINGS, change, header, message, sample


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(write_session(tmp_path_factory.mktemp("report") / "x.json", 80.0))


def test_few_points_are_kept_as_they_are() -> None:
    assert extremes([0.0, 1.0, 2.0], [5.0, 1.0, 3.0], bins=2) == ([0.0, 1.0, 2.0], [5.0, 1.0, 3.0])


def test_of_many_points_the_lowest_and_highest_of_each_bin_are_kept_in_order() -> None:
    t = [float(at) for at in range(10_000)]
    values = [1.0] * 10_000
    values[3_333], values[3_334], values[7_777] = -5.0, 9.0, 42.0
    kept_t, kept = extremes(t, values, bins=100)
    assert len(kept) <= 200 and kept_t == sorted(kept_t)
    told = dict(zip(kept_t, kept, strict=True))
    assert told[3_333.0] == -5.0 and told[3_334.0] == 9.0 and told[7_777.0] == 42.0


def test_a_time_without_measurement_stays_a_gap() -> None:
    t = [float(at) for at in range(1_000)]
    values = [math.nan if 400 <= at < 600 else 2.0 for at in range(1_000)]
    kept_t, kept = extremes(t, values, bins=50)
    gap = [value for at, value in zip(kept_t, kept, strict=True) if 400 <= at < 600]
    assert gap and all(math.isnan(value) for value in gap)
    assert sum(math.isnan(value) for value in kept) == len(gap)


def test_means_of_parts_add_up_to_the_mean_of_the_whole() -> None:
    t = [float(at) for at in range(3_000)]
    a, b = [at % 7 / 7 for at in range(3_000)], [at % 5 / 5 for at in range(3_000)]
    whole = [one + other for one, other in zip(a, b, strict=True)]
    kept_t, (of_a, of_b, of_whole) = means(t, [a, b, whole], bins=60)
    assert len(kept_t) == 60
    for one, other, both in zip(of_a, of_b, of_whole, strict=True):
        assert one + other == pytest.approx(both)


def test_the_settings_over_time_are_told_with_their_rates(story: Story) -> None:
    assert len(story.stretches) == 1 + sum(ok for *_, ok in TURNS)
    assert story.stretches[0].settings == START and story.stretches[0].begin_s == 0.0
    for before, after in zip(story.stretches, story.stretches[1:], strict=False):
        assert before.end_s == after.begin_s and before.last == after.first
    rates = [rate.median for stretch in story.stretches if (rate := story.rate(stretch)) is not None]
    assert rates == sorted(rates) and rates[-1] / rates[0] == pytest.approx(1.9 * 1.31 * 3.6 * 1.02, rel=0.05)


def test_changes_have_their_effects_and_failures_their_reason(story: Story) -> None:
    assert [turned.number for turned in story.turned] == [1, 2, 3, 4, 5]
    assert [turned.effect is not None for turned in story.turned] == [True, True, True, True, False]
    assert story.turned[2].effect is not None and story.turned[2].effect.predicted_ratio == 4.1
    assert "out of memory" in (story.turned[4].change.error or "")


def test_a_verdict_stands_until_the_next_and_knows_what_following_it_brought(story: Story) -> None:
    names = [held.verdict.bottleneck for held in story.held]
    assert names == ["launch-bound", "compute-bound"]
    first = story.held[0]
    assert first.until_s == story.held[1].since_s and story.held[1].until_s == story.length_s
    gain = story.measured_gain(first, "execution", "graph")
    assert gain is not None and gain.ratio == pytest.approx(3.6)
    assert story.measured_gain(first, "execution", "compiled") is None
    assert story.measured_gain(story.held[1], "execution", "graph") is None


def test_gpus_are_told_apart_by_whether_they_trained(story: Story) -> None:
    assert [gpu.index for gpu in story.gpus.values()] == [0, 1]
    assert [gpu.index for gpu in story.trained_on()] == [0]
    trained = story.trained_on()[0]
    assert len(trained) == len(story.samples) and trained.limits["pcie_link_bytes_per_s"] == 5.5e10


def test_what_becomes_known_is_no_change_of_settings(tmp_path: Path) -> None:
    from gputrain_runner.recorder import Recorder

    recorder = Recorder(tmp_path / "x.json", header(torch="2.13"))
    told = [SETTINGS.with_value("device", "auto"), SETTINGS, SETTINGS.with_value("threads", 2)]
    for position, settings in enumerate(told):
        recorder.write(position, sample(0.5 * position, settings=settings))
    story = tell(tmp_path / "x.json")
    assert [stretch.settings for stretch in story.stretches] == [told[-1]]
    assert story.summary is None and len(story.samples) == 3


def test_an_effect_that_could_not_be_told_says_why(tmp_path: Path) -> None:
    from gputrain_runner.recorder import Recorder

    recorder = Recorder(tmp_path / "x.json", header(torch="2.13"))
    note = Message(t=1.0, level="info", text="too short to tell", change=1)
    told: list[Entry] = [sample(0.25), change(0.5), note, message(2.0)]
    for position, entry in enumerate(told):
        recorder.write(position, entry)
    story = tell(tmp_path / "x.json")
    assert story.turned[0].note == "too short to tell" and story.turned[0].effect is None
    assert [each.text for each in story.messages] == ["hello"]


def test_the_side_to_be_compared_is_that_of_compare_itself(story: Story) -> None:
    from gputrain_runner.recordings import RecordingFile
    from gputrain_runner.recordings.compare import side

    whole = side(RecordingFile(story.path))
    assert story.side is not None
    assert (story.side.settings, story.side.changed) == (whole.settings, whole.changed)
    assert list(story.side.samples) == list(whole.samples) and len(whole.samples) >= FEWEST


def test_a_long_stretch_is_thinned_before_it_is_compared(
    tmp_path: Path, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telling, "MOST_COMPARED", 16)
    thinned = tell(story.path)
    assert thinned.side is not None and story.side is not None
    assert 8 <= len(thinned.side.samples) <= 16 < len(story.side.samples)
    row = compare(story.side, thinned.side).rows[0]
    assert row.ratio is not None and row.ratio.ratio == pytest.approx(1.0, abs=0.03)


def test_what_a_later_version_wrote_is_counted_and_passed_over(tmp_path: Path) -> None:
    path = write_session(tmp_path / "x.json", 20.0)
    document = json.loads(path.read_text())
    document["timeline"].insert(3, {"kind": "weather", "t": 1.0, "sun": True})
    path.write_text(json.dumps(document))
    assert tell(path).unknown == 1


def test_a_recording_without_its_end_is_told_as_far_as_it_goes(tmp_path: Path) -> None:
    path = write_session(tmp_path / "x.json", 20.0, complete=False)
    cut = tmp_path / "cut.json"
    cut.write_bytes(path.read_bytes()[:-3000])
    story = tell(cut)
    assert story.damage is not None and "cut off" in story.damage
    assert 0 < len(story.samples) < 80 and story.length_s == story.samples.t[-1]
    empty = tmp_path / "empty.json"
    empty.write_text("")
    with pytest.raises(UnreadableError, match="is empty"):
        tell(empty)


def test_published_figures_become_rates() -> None:
    preset = load("keras-mnist-mlp")
    assert as_rate(preset.published[0], preset) == pytest.approx(10 * 60_000 / 103.7)
    vgg = load("vgg")
    per_batch = next(figure for figure in vgg.published if figure.unit == "ms")
    assert as_rate(per_batch, vgg) == pytest.approx(per_batch.batch_size / per_batch.value * 1e3)


def test_published_figures_stand_beside_the_nearest_stretch(story: Story) -> None:
    pairs = of_session(story)
    assert len(pairs) == len(load("keras-mnist-mlp").published)
    for pair in pairs:
        assert pair.measured.settings.batch_size == 128 and pair.published_samples_per_s is not None
        assert pair.measured.samples_per_s == pytest.approx(180_000, rel=0.05)
        assert pair.ratio == pytest.approx(pair.measured.samples_per_s / pair.published_samples_per_s)


def test_the_made_session_has_something_of_every_kind() -> None:
    kinds = {type(entry).__name__ for entry in entries(80.0)}
    assert kinds == {"Sample", "Change", "Effect", "Verdict", "Message"}
    effect = next(entry for entry in entries(80.0) if isinstance(entry, Effect))
    assert isinstance(effect.before, Rate)
