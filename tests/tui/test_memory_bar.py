"""The bar of a GPU's memory: proportions that can be seen, figures for every part, calm under noise."""

from __future__ import annotations

import pytest

from gputrain_tui.gpu_text import MemoryPart
from gputrain_tui.widgets.glyphs import set_glyphs
from gputrain_tui.widgets.memory_bar import MemoryBar
from showing import shown

GIB = 2**30


def parts(*sizes_gib: float | None) -> list[MemoryPart]:
    names = ("allocated", "cached", "context", "others", "driver")[: len(sizes_gib) - 1]
    named = [*names, "free"]
    return [
        MemoryPart(name, name[:6], None if size is None else int(size * GIB))
        for name, size in zip(named, sizes_gib, strict=True)
    ]


async def drawn(given: list[MemoryPart], width: int = 80) -> list[str]:
    bar = MemoryBar()
    async with shown(bar, size=(width, 3)) as (app, pilot):
        bar.show_parts(given)
        await pilot.pause()
        return app.rows()[:3]


async def test_the_bar_is_divided_in_proportion() -> None:
    bar, *_ = await drawn(parts(20, 10, 10, 20, 20))
    assert bar == "█" * 20 + "▓" * 10 + "▒" * 10 + "░" * 20 + "·" * 20


async def test_little_on_a_large_gpu_can_be_seen_all_the_same() -> None:
    bar, *_ = await drawn(parts(0.01, 0.01, 0.3, 0.2, 140))
    assert bar.startswith("█▓▒░·")
    assert len(bar) == 80


@pytest.mark.parametrize("width", [72, 78, 102, 140])
async def test_every_part_has_its_figure(width: int) -> None:
    _, *figures = await drawn(parts(1.5, 0.25, 0.5, 30, 0.75, 108), width)
    text = " ".join(" ".join(figures).split())
    for figure in (
        "█ alloc",
        "1.5 GiB",
        "▓ cached 256 MiB",
        "▒ contex",
        "512 MiB",
        "30 GiB",
        "· free 108 GiB",
    ):
        assert figure in text
    assert "…" not in text


async def test_a_part_that_is_not_known_is_n_a_and_takes_no_room() -> None:
    bar, *figures = await drawn(parts(None, None, None, 40, 40))
    assert bar == "░" * 40 + "·" * 40
    assert " ".join(figures).count("n/a") == 3


async def test_nothing_known_at_all() -> None:
    bar, *_ = await drawn(parts(None, None, None, None, None))
    assert bar == "n/a"


async def test_parts_are_told_apart_without_colour_and_in_ascii() -> None:
    set_glyphs("ascii")
    try:
        bar, *figures = await drawn(parts(20, 10, 10, 20, 20))
        assert bar == "#" * 20 + "%" * 10 + "=" * 10 + "+" * 20 + "." * 20
        assert " ".join(figures).isascii()
    finally:
        set_glyphs("braille")


async def test_noise_does_not_move_a_boundary() -> None:
    bar = MemoryBar()
    async with shown(bar, size=(80, 3)) as (app, pilot):
        bar.show_parts(parts(20, 20, 40))
        await pilot.pause()
        before = app.rows()[0]
        app.take_sent()
        for size in (20.3, 19.7, 20.4):
            bar.show_parts(parts(size, 20, 40))
            await pilot.pause()
            assert app.rows()[0] == before
