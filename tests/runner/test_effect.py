"""What a change did: from which samples it is told, and when."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from gputrain_runner.effect import EffectWatch
from gputrain_runner.timeline import Effect, Entry, Message
from timelines import change, message, sample

Told = list[Effect | Message]


def samples(start: float, count: int, rate: float, every_s: float = 0.25) -> list[Entry]:
    return [sample(start + (index + 1) * every_s, rate) for index in range(count)]


def watch(entries: Iterable[Entry], then_flush: bool = False) -> Told:
    watching = EffectWatch()
    told = [watching.feed(position, entry) for position, entry in enumerate(entries)]
    told += [watching.flush()] if then_flush else []
    return [news for news in told if news is not None]


def effects(told: Told) -> list[Effect]:
    return [news for news in told if isinstance(news, Effect)]


def test_the_ratio_is_that_of_the_medians_and_its_spread_that_of_the_quartiles() -> None:
    before = [sample(t, rate) for t, rate in enumerate([90.0, 100.0, 100.0, 110.0, 500.0])]
    after = [sample(10.0 + t, rate) for t, rate in enumerate([180.0, 200.0, 200.0, 200.0, 220.0, 230.0])]
    [effect] = effects(watch([*before, change(9.0), *after]))
    assert effect.change == 5 and effect.since is None
    assert (effect.before.samples_per_s, effect.before.q25, effect.before.q75) == (100.0, 100.0, 110.0)
    assert (effect.after.samples_per_s, effect.after.q25, effect.after.q75) == (200.0, 200.0, 215.0)
    assert effect.ratio == pytest.approx(2.0)
    assert effect.ratio_low == pytest.approx(200.0 / 110.0)
    assert effect.ratio_high == pytest.approx(215.0 / 100.0)
    assert (effect.before.samples, effect.after.samples) == (5, 6)
    assert effect.t == 15.0


@pytest.mark.parametrize(
    ("every_s", "told_at"),
    [
        (0.25, 8),  # Two seconds are eight samples.
        (0.05, 40),
        (1.0, 6),  # Six samples are more than two seconds.
        (10.0, 6),
    ],
)
def test_an_effect_is_told_once_after_two_seconds_and_six_samples(every_s: float, told_at: int) -> None:
    before, after = samples(0.0, 30, 100.0, every_s), samples(1000.0, told_at + 20, 200.0, every_s)
    entries = [*before, change(1000.0), *after]
    assert effects(watch(entries[: 31 + told_at - 1])) == []
    [effect] = effects(watch(entries))
    assert effect.after.samples == told_at


def test_samples_that_are_not_steady_or_have_no_rate_do_not_count() -> None:
    settling = [sample(10.0 + index / 4, 7.0, steady=False) for index in range(20)]
    paused = [sample(20.0 + index, None, steady=True) for index in range(20)]
    entries = [*samples(0.0, 10, 100.0), change(9.0), *settling, *paused, *samples(50.0, 8, 150.0)]
    [effect] = effects(watch(entries))
    assert effect.ratio == pytest.approx(1.5)
    assert effect.after.samples == 8


@pytest.mark.parametrize(("every_s", "compared"), [(0.25, 40), (0.5, 21), (0.01, 40), (30.0, 6)])
def test_what_is_compared_with_is_the_newest_before_the_change(every_s: float, compared: int) -> None:
    old, newest = samples(0.0, 200, 50.0, every_s), samples(200 * every_s, compared, 100.0, every_s)
    [effect] = effects(watch([*old, *newest, change(1e5), *samples(1e5, 8, 100.0)]))
    assert effect.before.samples == compared
    assert effect.ratio == pytest.approx(1.0)


def test_the_samples_before_are_only_those_since_the_change_before() -> None:
    entries = [
        *samples(0.0, 20, 100.0),
        change(5.0, 1024, 2048),
        *samples(6.0, 12, 200.0),
        change(10.0, 2048, 4096),
        *samples(11.0, 12, 300.0),
    ]
    first, second = effects(watch(entries))
    assert (first.change, second.change) == (20, 33)
    assert [first.ratio, second.ratio] == pytest.approx([2.0, 1.5])
    assert second.before.samples == 12


def test_a_key_pressed_three_times_is_one_effect_told_at_the_last_change() -> None:
    entries = [
        *samples(0.0, 10, 100.0),
        change(3.0, 1024, 2048),
        change(3.1, 2048, 4096),
        sample(3.2, 9.0),  # One sample is no rate yet.
        change(3.3, 4096, 8192),
        *samples(4.0, 12, 400.0),
        change(9.0, 8192, 1024),
        *samples(9.0, 12, 100.0),
    ]
    chain, alone = effects(watch(entries))
    assert (chain.since, chain.change) == (10, 13)
    assert (alone.since, alone.change) == (None, 26)
    assert [chain.ratio, chain.before.samples_per_s, alone.ratio] == pytest.approx([4.0, 100.0, 0.25])


def test_a_change_that_follows_soon_settles_the_one_before_with_what_there_is() -> None:
    entries = [
        *samples(0.0, 10, 100.0),
        change(3.0, 1024, 2048),
        *samples(3.0, 3, 200.0),
        change(4.0, 2048, 4096),
        *samples(5.0, 8, 300.0),
    ]
    first, second = effects(watch(entries))
    assert (first.change, first.after.samples) == (10, 3)
    assert (second.change, second.since, second.before.samples) == (14, None, 3)


def test_a_change_that_failed_neither_starts_an_effect_nor_ends_one() -> None:
    failed = change(5.0, 2048, 65536, ok=False)
    entries = [
        *samples(0.0, 10, 100.0),
        change(3.0),
        *samples(3.0, 4, 200.0),
        failed,
        *samples(6.0, 8, 200.0),
    ]
    [effect] = effects(watch(entries))
    assert (effect.change, effect.since) == (10, None)
    assert watch([*samples(0.0, 10, 100.0), failed, *samples(6.0, 20, 200.0)], then_flush=True) == []


def test_flush_tells_with_what_there_is() -> None:
    told = watch([*samples(0.0, 10, 100.0), change(3.0), *samples(3.0, 2, 300.0)], then_flush=True)
    [effect] = effects(told)
    assert effect.ratio == pytest.approx(3.0)
    assert effect.after.samples == 2


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (10, 1, "too short to tell what batch size 1024 → 2048 did: no steady rate after it"),
        (1, 9, "too short to tell what batch size 1024 → 2048 did: no steady rate before it"),
    ],
)
def test_without_a_rate_on_one_side_that_is_said(before: int, after: int, text: str) -> None:
    entries = [*samples(0.0, before, 100.0), change(3.0), *samples(3.0, after, 100.0)]
    [news] = watch(entries, then_flush=True)
    assert isinstance(news, Message) and news.text == text and news.level == "info"
    assert news.change == before


def test_nothing_is_compared_across_a_reset() -> None:
    watching = EffectWatch()
    for position, entry in enumerate([*samples(0.0, 10, 100.0), change(3.0)]):
        watching.feed(position, entry)
    watching.reset()
    told = [watching.feed(20 + index, entry) for index, entry in enumerate(samples(5.0, 20, 200.0))]
    assert told == [None] * 20
    assert watching.flush() is None


def test_other_entries_change_nothing() -> None:
    entries = [*samples(0.0, 10, 100.0), message(2.9), change(3.0), message(3.1), *samples(4.0, 8, 100.0)]
    [effect] = effects(watch(entries))
    assert effect.change == 11
