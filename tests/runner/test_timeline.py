"""The bounded store of a session's entries."""

from __future__ import annotations

from itertools import pairwise

from gputrain_runner.feed import Timeline
from gputrain_runner.timeline import Change, Entry, Sample
from timelines import change, message, sample


def test_reading_goes_on_where_it_left_off() -> None:
    timeline = Timeline()
    assert timeline.read(0) == ([], 0)
    first: list[Entry] = [sample(0.0), message(0.1)]
    for entry in first:
        timeline.append(entry)
    assert timeline.read(0) == (first, 2)
    assert timeline.append(change(0.2)) == 2
    assert timeline.read(2) == ([change(0.2)], 3)
    assert timeline.read(3) == ([], 3)


def test_it_thins_older_samples_and_still_reaches_back_to_the_beginning() -> None:
    timeline = Timeline(max_samples=100)
    for index in range(10_000):
        timeline.append(sample(float(index)))
    entries, following = timeline.read(0)
    times = [entry.t for entry in entries]
    assert following == 10_000 and len(times) <= 100
    assert times == sorted(times)
    assert times[-50:] == [float(index) for index in range(9950, 10_000)]
    older = times[:-50]
    gaps = {after - before for before, after in pairwise(older)}
    assert older[0] == 0.0 and len(older) >= 12
    assert max(gaps) == older[1] - older[0] <= 10_000 / 12


def test_only_samples_are_let_go() -> None:
    timeline = Timeline(max_samples=10)
    kept: list[Entry] = []
    for index in range(300):
        timeline.append(sample(float(index)))
        if index % 30 == 0:
            kept += [change(index + 0.1), message(index + 0.2)]
            for entry in kept[-2:]:
                timeline.append(entry)
    entries, _ = timeline.read(0)
    assert [entry for entry in entries if not isinstance(entry, Sample)] == kept
    assert sum(isinstance(entry, Sample) for entry in entries) <= 10


def test_positions_stay_those_of_the_appending() -> None:
    timeline = Timeline(max_samples=10)
    for index in range(200):
        timeline.append(change(float(index)) if index % 50 == 7 else sample(float(index)))
    held = timeline.held()
    assert all(entry.t == float(position) for position, entry in held)
    assert [position for position, entry in held if isinstance(entry, Change)] == [7, 57, 107, 157]
    entries, following = timeline.read(57)
    assert following == 200 and entries[0] == change(57.0)
