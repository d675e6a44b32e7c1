from __future__ import annotations

from gputrain_runner.settings import Value
from gputrain_runner.timeline import Change, Effect, Entry, Level, Message, Rate
from gputrain_tui.widgets.change_list import ChangeList
from showing import shown


def change(t: float, setting: str, before: Value, after: Value, error: str | None = None) -> Change:
    return Change(t=t, step=1, setting=setting, from_=before, to=after, ok=error is None, error=error)


def effect(index: int, ratio: float, low: float, high: float, predicted: float | None = None) -> Effect:
    rate = Rate(samples_per_s=1.0, q25=1.0, q75=1.0, samples=9)
    return Effect(
        t=0.0,
        change=index,
        before=rate,
        after=rate,
        ratio=ratio,
        ratio_low=low,
        ratio_high=high,
        predicted_ratio=predicted,
    )


def message(t: float, text: str, level: Level = "info") -> Message:
    return Message(t=t, level=level, text=text)


TIMELINE: list[Entry] = [
    change(70, "batch_size", 256, 512),
    effect(0, 1.93, 1.90, 1.96),
    change(121, "data_path", "host", "resident"),
    effect(2, 1.71, 1.68, 1.74, 1.62),
]


async def rows_of(timeline: list[Entry], width: int, height: int) -> list[str]:
    changes = ChangeList()
    async with shown(changes, size=(width, height)) as (app, pilot):
        changes.add(0, timeline)
        await pilot.pause()
        return app.rows()


async def test_changes_with_their_effects_newest_first() -> None:
    assert await rows_of(TIMELINE, 70, 3) == [
        "02:01 host → resident  ×1.71 (1.68–1.74)  predicted ×1.6",
        "01:10 batch 256 → 512  ×1.93 (1.90–1.96)",
        "",
    ]


async def test_a_change_is_measured_until_its_effect_is_told_or_that_there_is_none() -> None:
    pending = change(200, "batch_size", 512, 1024)
    assert (await rows_of([pending], 60, 1)) == ["03:20 batch 512 → 1024  measuring"]
    nothing = Message(t=202, level="info", text="too short to tell", change=0)
    assert (await rows_of([pending, nothing], 60, 2)) == [
        "03:22 too short to tell",
        "03:20 batch 512 → 1024  not measured",
    ]


async def test_with_less_room_the_least_important_goes_first() -> None:
    assert await rows_of(TIMELINE, 44, 2) == [
        "02:01 host → resident  ×1.71 (1.68–1.74)",
        "01:10 batch 256 → 512  ×1.93 (1.90–1.96)",
    ]
    assert await rows_of(TIMELINE, 30, 2) == [
        "02:01 host → resident  ×1.71",
        "01:10 batch 256 → 512  ×1.93",
    ]
    assert await rows_of(TIMELINE, 22, 1) == ["02:01 host → resident"]
    assert await rows_of(TIMELINE, 16, 1) == ["02:01 host →…"]


async def test_a_change_that_failed_is_told_in_words() -> None:
    failed = change(160, "batch_size", 8192, 65536, "needs about 160 GB, 139 are free")
    assert await rows_of([*TIMELINE, failed], 80, 4) == [
        "02:40 batch 65536 → back to 8192: needs about 160 GB, 139 are free",
        "02:01 host → resident  ×1.71 (1.68–1.74)  predicted ×1.6",
        "01:10 batch 256 → 512  ×1.93 (1.90–1.96)",
        "",
    ]
    assert await rows_of([failed], 46, 3) == [
        "02:40 batch 65536 → back to 8192: needs about",
        "      160 GB, 139 are free",
        "",
    ]
    assert await rows_of([failed], 46, 1) == ["02:40 batch 65536 → back to 8192: needs about…"]
    gone = change(5, "device", "cpu", "cuda:1", "there is no such device")
    assert await rows_of([gone], 60, 1) == ["00:05 device cuda:1 → back to cpu: there is no such device"]


async def test_an_effect_that_is_not_there_yet_is_being_measured() -> None:
    timeline: list[Entry] = [
        change(10, "batch_size", 1, 2),
        change(20, "batch_size", 2, 4),
        message(21, "the loss starts over"),
    ]
    assert await rows_of(timeline, 60, 3) == [
        "00:21 the loss starts over",
        "00:20 batch 2 → 4  measuring",
        "00:10 batch 1 → 2  not measured",
    ]


async def test_an_effect_finds_its_change_in_a_thinned_timeline() -> None:
    changes = ChangeList()
    async with shown(changes, size=(60, 2)) as (app, pilot):
        changes.add(100, [change(10, "batch_size", 1, 2), effect(7, 1.5, 1.4, 1.6)])
        await pilot.pause()
        assert app.rows()[0] == "00:10 batch 1 → 2  ×1.50 (1.40–1.60)"


async def test_nothing_has_happened_yet() -> None:
    changes = ChangeList(title="CHANGES")
    async with shown(changes, size=(30, 3)) as (app, pilot):
        assert app.rows() == ["CHANGES", "no changes yet", ""]
        changes.add(0, TIMELINE)
        changes.clear()
        await pilot.pause()
        assert app.rows() == ["CHANGES", "no changes yet", ""]


async def test_only_the_newest_are_held() -> None:
    changes = ChangeList()
    async with shown(changes, size=(30, 40)) as (app, pilot):
        changes.add(0, [message(float(t), f"message {t}") for t in range(1000)])
        await pilot.pause()
        assert app.rows()[0] == "16:39 message 999"
        assert app.rows()[39] == "16:00 message 960"


async def test_an_effect_alone_rewrites_its_own_line() -> None:
    changes = ChangeList()
    async with shown(changes, size=(60, 5), diff=False) as (app, pilot):
        changes.add(0, TIMELINE[:3])
        await pilot.pause()
        app.take_sent()
        changes.add(3, TIMELINE[3:])
        await pilot.pause()
        sent = app.take_sent()
        assert "×1.71".encode() in sent
        assert b"256" not in sent
