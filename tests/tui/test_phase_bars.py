from __future__ import annotations

import random

import pytest

from gputrain_runner.timeline import PHASES, Phase
from gputrain_tui.widgets.glyphs import set_glyphs
from gputrain_tui.widgets.phase_bars import PhaseBars
from gputrain_tui.widgets.proportions import SteadyNumber, ideal_bounds, steady_bounds
from showing import shown

HOST_MS = {"data": 0.02, "h2d": 0.01, "forward": 0.19, "backward": 0.21, "optimizer": 0.11, "other": 0.016}
DEVICE_MS = {"h2d": 0.004, "forward": 0.05, "backward": 0.06, "optimizer": 0.03}


def phases(device: bool = True, factor: float = 1.0) -> dict[str, Phase]:
    return {
        name: Phase(host_ms=host_ms * factor, device_ms=DEVICE_MS.get(name) if device else None)
        for name, host_ms in HOST_MS.items()
    }


BUSY = [("busy", 0.21), ("idle", 0.79)]


async def rows_of(width: int, height: int, device: bool = True) -> list[str]:
    bars = PhaseBars()
    bars.styles.height = height
    async with shown(bars, size=(width, height)) as (app, pilot):
        bars.take_step(phases(device), 0.556)
        bars.take_device(BUSY if device else None)
        bars.rebuild()
        await pilot.pause()
        return app.rows()


async def test_60_wide() -> None:
    assert await rows_of(60, 7) == [
        "ONE STEP  0.556 ms",
        "host   ▏d▏h▏forward 0.19    ▏backward 0.21     ▏optimizer▏…▏",
        "device ▏busy 21 % ▏idle 79 %                               ▏",
        "ms       data   h2d   fwd   bwd   opt other",
        "host     0.02  0.01  0.19  0.21  0.11  0.02",
        "share     4 %   2 %  34 %  38 %  20 %   3 %",
        "span      n/a <0.01  0.05  0.06  0.03   n/a",
    ]


async def test_78_wide() -> None:
    assert await rows_of(78, 7) == [
        "ONE STEP  0.556 ms",
        "host   ▏d▏h▏forward 0.19           ▏backward 0.21            ▏optimizer    ▏…▏",
        "device ▏busy 21 %     ▏idle 79 %                                             ▏",
        "ms            data        h2d    forward   backward  optimizer      other",
        "host          0.02       0.01       0.19       0.21       0.11       0.02",
        "share          4 %        2 %       34 %       38 %       20 %        3 %",
        "span           n/a      <0.01       0.05       0.06       0.03        n/a",
    ]


async def test_with_one_row_less_the_shares_give_way_to_the_spans() -> None:
    assert [row.split(" ")[0] for row in await rows_of(78, 6)] == [
        "ONE",
        "host",
        "device",
        "ms",
        "host",
        "span",
    ]


async def test_100_wide() -> None:
    assert (await rows_of(100, 3)) == [
        "ONE STEP  0.556 ms",
        "host   ▏d ▏h▏forward 0.19                   ▏backward 0.21                    ▏optimizer 0.11   "
        "▏… ▏",
        "device ▏busy 21 %         ▏idle 79 %                                                              "
        " ▏",
    ]


async def test_what_the_device_did_is_not_known_until_it_was_profiled() -> None:
    assert await rows_of(78, 7, device=False) == [
        "ONE STEP  0.556 ms",
        "host   ▏d▏h▏forward 0.19           ▏backward 0.21            ▏optimizer    ▏…▏",
        "device n/a until profiled",
        "",
        "ms            data        h2d    forward   backward  optimizer      other",
        "host          0.02       0.01       0.19       0.21       0.11       0.02",
        "share          4 %        2 %       34 %       38 %       20 %        3 %",
    ]


async def test_with_little_room_the_bars_stay() -> None:
    assert await rows_of(30, 2) == ["host   ▏d▏h▏fwd  ▏bwd   ▏o ▏…▏", "device ▏    ▏idle 79 %       ▏"]
    assert await rows_of(30, 1) == ["host   ▏d▏h▏fwd  ▏bwd   ▏o ▏…▏"]


@pytest.mark.parametrize("width", [1, 8, 13, 20, 47, 73, 160])
async def test_no_row_is_wider_than_its_room_and_no_name_is_cut(width: int) -> None:
    allowed = {*PHASES, "d", "h", "f", "b", "o", "fwd", "bwd", "opt", "…", "."}
    host, device = await rows_of(width, 2)
    assert len(host) <= width
    assert len(device) <= width
    if width >= 13:
        parts = [part.strip() for part in (host[7:] + device[7:]).split("▏")]
        assert {part.split(" ")[0] for part in parts} <= {*allowed, "busy", "idle", ""}


async def test_in_ascii_too() -> None:
    set_glyphs("ascii")
    try:
        assert await rows_of(30, 2) == ["host   |d|h|fwd  |bwd   |o |.|", "device |    |idle 79 %       |"]
    finally:
        set_glyphs("braille")


async def test_before_the_first_step_it_says_so() -> None:
    bars = PhaseBars()
    async with shown(bars, size=(60, 3)) as (app, pilot):
        assert app.rows()[0] == "ONE STEP  not measured yet"
        bars.take_step(None, None)
        bars.rebuild()
        await pilot.pause()
        assert app.rows()[0] == "ONE STEP  not measured yet"


async def test_noise_does_not_move_the_bars() -> None:
    chance = random.Random(2)
    bars = PhaseBars()
    async with shown(bars, size=(100, 3)) as (app, pilot):
        seen = set()
        for _ in range(60):
            noisy = {
                name: Phase(host_ms=host_ms * chance.gauss(1, 0.03)) for name, host_ms in HOST_MS.items()
            }
            bars.take_step(noisy, 0.556 * chance.gauss(1, 0.03))
            bars.rebuild()
            await pilot.pause()
            seen.add("".join("▏" if character == "▏" else " " for character in app.rows()[1]))
        assert len(seen) <= 2


async def test_a_new_regime_is_taken_as_it_is_and_an_outlier_left_out() -> None:
    bars = PhaseBars()
    async with shown(bars, size=(60, 3)) as (app, pilot):
        bars.take_step(phases(), 0.556)
        bars.take_step(phases(factor=9.0), 5.0)
        bars.rebuild()
        await pilot.pause()
        assert app.rows()[0] == "ONE STEP  0.556 ms"
        bars.take_step(phases(factor=9.0), 5.0)
        bars.rebuild()
        await pilot.pause()
        assert app.rows()[0] == "ONE STEP  5.00 ms"
        bars.restart()
        bars.take_step(phases(), 0.556)
        bars.rebuild()
        await pilot.pause()
        assert app.rows()[0] == "ONE STEP  0.556 ms"


def test_parts_are_in_proportion_with_a_least_width() -> None:
    assert ideal_bounds([1, 1, 2], 40) == [10, 20, 40]
    assert ideal_bounds([0.001, 1, 1], 42) == [2, 22, 42]
    assert ideal_bounds([1, 1, 1], 3) == [1, 2, 3]


def test_boundaries_stay_until_they_are_clearly_elsewhere() -> None:
    assert steady_bounds([10.4, 40], None, 40) == [10, 40]
    assert steady_bounds([10.6, 40], [10, 40], 40) == [10, 40]
    assert steady_bounds([10.9, 40], [10, 40], 40) == [11, 40]
    assert steady_bounds([10.6, 50], [10, 40], 50) == [11, 50]


def test_a_steady_number_ignores_what_its_last_digit_cannot_show() -> None:
    number = SteadyNumber()
    assert number.shown(0.01) is None
    number.add(0.19)
    assert number.shown(0.01) == 0.19
    number.add(0.20)
    assert number.shown(0.01) == 0.19
    for _ in range(20):
        number.add(0.21)
    assert number.shown(0.01) == pytest.approx(0.21, abs=0.006)
    number.add(None)
    assert number.shown(0.01) is None
