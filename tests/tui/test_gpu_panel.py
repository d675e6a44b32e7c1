"""The GPU panel of the training screen: which numbers it shows, of which GPU, and what it says in words."""

from __future__ import annotations

import pytest
from msgspec import structs

from fake_feed import FakeSession
from gpus import MEMORY, gpu, nameless
from gputrain_runner.timeline import Gpu
from gputrain_tui.screens.training import TrainingScreen
from gputrain_tui.widgets.lines import Lines
from gputrain_tui.widgets.time_chart import TimeChart
from screen_text import look, screen_rows, training

SIZES = [(80, 24), (120, 40), (160, 48)]


def of(*gpus: Gpu, seconds: float = 4) -> FakeSession:
    """A session whose samples have these GPUs."""
    session = FakeSession(gpu=True)
    session.gpus = list(gpus)
    session.memory, session.busy = MEMORY, 0.21
    session.run(seconds)
    return session


async def shown(session: FakeSession, size: tuple[int, int]) -> str:
    """The screen with the GPU panel, runs of spaces as one."""
    async with training(session, size) as pilot:
        await pilot.press("2")
        return "\n".join(" ".join(row.split()) for row in (await look(pilot)).splitlines())


@pytest.mark.parametrize("size", SIZES)
async def test_every_figure_stands_in_its_place(size: tuple[int, int]) -> None:
    text = await shown(of(gpu()), size)
    wide = size[0] == 160
    utilisation, active = ("utilisation", "SM active") if wide else ("util.", "SM")
    for figure in (
        "GPU 0 NVIDIA H200",
        "tensor active 2 % DRAM active 5 % 38 °C",
        f"{utilisation} 61 % busy 21 % {active} 4 %",
        "memory 1.7 GiB of 141 GiB",
        "allocated 300 MiB",
        "cached 124 MiB",
        "context 912 MiB",
        "others 384 MiB",
        "driver 600 MiB",
        "free 138 GiB",
        "PCIe rx 412 MB/s 0.7 % of",
        "PCIe tx 3.21 MB/s <0.1 %",
        "SM clock 1,410 of 1,980 MHz",
        "power 142 of 700 W",
        "link gen 4 ×8 of gen 5 ×16",
    ):
        assert figure in text, figure
    assert ("of 63.0 GB/s, host to GPU" in text) == wide
    assert "PCIe rates: GPM averages" in text


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_not_known_is_said_to_be_and_never_0(size: tuple[int, int]) -> None:
    text = await shown(of(nameless()), size)
    panel = text[text.index("GPU 0") : text.index("link")]
    assert "memory n/a" in panel
    assert "PCIe rx n/a" in panel
    assert "SM clock n/a" in panel
    assert "power n/a" in panel
    assert "slow-downs n/a" in panel
    assert " 0 %" not in panel.replace("┤", " ").replace("0 % ┼", "")
    assert "link n/a" in text


@pytest.mark.parametrize("size", SIZES)
async def test_it_follows_the_gpu_that_trains(size: tuple[int, int]) -> None:
    session = of(gpu(0, utilisation=0.11), gpu(1, utilisation=0.77, power_w=543.0))
    session.devices = [structs.replace(session.devices[0], uuid="GPU-2"), session.devices[1]]
    session.run(3)
    text = await shown(session, size)
    assert "GPU 1 NVIDIA H200" in text
    assert "77 %" in text
    assert "power 543 of 700 W" in text


async def test_without_sm_active_there_is_one_curve_and_no_word_of_it() -> None:
    text = await shown(of(gpu(sm_active=None)), (160, 48))
    assert "SM active" not in text


async def test_sm_active_is_an_area_below_the_line_of_the_utilisation() -> None:
    def dots(text: str) -> list[str]:
        return [row.split("┤")[-1].split("│")[-1].strip() for row in text.splitlines()]

    async with training(of(gpu(sm_active=0.5, utilisation=0.9), seconds=60)) as pilot:
        await look(pilot)
        both = pilot.app.screen.query_one("#gpu-utilisation TimeChart", TimeChart).text
    async with training(of(gpu(sm_active=None, utilisation=0.9), seconds=60)) as pilot:
        await look(pilot)
        alone = pilot.app.screen.query_one("#gpu-utilisation TimeChart", TimeChart).text
    assert dots(both)[0] == dots(alone)[0]
    assert "⣿⣿⣿" in both
    assert "⣿" not in alone


async def test_clock_and_power_are_drawn_up_to_what_they_can_be() -> None:
    async with training(of(gpu())) as pilot:
        await look(pilot)
        charts = {
            name: pilot.app.screen.query_one(f"#{name} TimeChart", TimeChart).text.splitlines()[0]
            for name in ("sm-clock", "power")
        }
        assert charts["sm-clock"].strip().startswith("1,980 ┤")
        assert charts["power"].strip().startswith("700 ┤")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("reasons", "words", "role"),
    [
        (["sw_power_cap"], "power cap for 3 s: normal at full load", "dim"),
        (["sw_thermal_slowdown"], "thermal: SM clock 1,410 of 1,980 MHz since 00:00", "warning"),
        ([], "not slowed down", "dim"),
    ],
)
async def test_why_it_is_slow_is_said_in_words(
    size: tuple[int, int], reasons: list[str], words: str, role: str
) -> None:
    session = of(gpu(throttle=reasons, throttled={}, power_w=690.0))
    async with training(session, size) as pilot:
        await pilot.press("2")
        assert words in await look(pilot)
        warns = [
            segment.style is not None and segment.style.color is not None and segment.style.color.number
            for row in screen_rows(pilot.app)
            for segment in row
            if words in segment.text
        ]
        assert len(warns) == 1


async def test_more_reasons_than_fit_are_counted() -> None:
    reasons = ["sw_thermal_slowdown", "hw_power_brake", "application_clocks", "sync_boost"]
    text = await shown(of(gpu(throttle=reasons, throttled={})), (80, 24))
    assert "+3 more" in text
    assert "thermal" in text


@pytest.mark.parametrize("size", SIZES)
async def test_a_driver_that_falls_silent_for_this_gpu_greys_the_panel_and_says_so(
    size: tuple[int, int],
) -> None:
    session = of(gpu())
    session.gpus = [Gpu(index=0, uuid="GPU-1", age_s=7.0, trouble="a call has not come back")]
    session.run(1)
    async with training(session, size) as pilot:
        await pilot.press("2")
        text = await look(pilot)
        assert "driver silent for 7 s; training goes on" in text
        assert "1,410 of 1,980 MHz" in text
        screen = pilot.app.screen
        assert screen.query_one("#gpu").has_class("-silent")
        session.gpus = [gpu()]
        session.run(1)
        assert "driver silent" not in await look(pilot)
        assert not screen.query_one("#gpu").has_class("-silent")


@pytest.mark.parametrize("size", SIZES)
async def test_a_lost_gpu_is_said_to_be_lost_and_not_silent(size: tuple[int, int]) -> None:
    session = of(gpu())
    async with training(session, size) as pilot:
        await pilot.press("2")
        for age_s in (0.1, 30.0):
            session.gpus = [
                Gpu(index=0, uuid="GPU-1", age_s=age_s, trouble="GPU 0 is lost: off the bus. See `dmesg`.")
            ]
            session.run(0.25)
            text = await look(pilot)
            panel = pilot.app.screen.query_one("#gpu")
            title = panel.query_one("#gpu-title", Lines).text
            assert title.startswith("GPU 0 is lost: off the bus. See `dmesg`.")
            assert "silent" not in text
            assert panel.has_class("-silent")
        session.gpus = [gpu()]
        session.run(1)
        await look(pilot)
        assert not panel.has_class("-silent")


async def test_a_gpu_is_not_greyed_for_the_silence_of_another() -> None:
    session = of(gpu(0), gpu(1))
    session.gpus = [gpu(0), Gpu(index=1, uuid="GPU-2", age_s=30.0)]
    session.run(2)
    async with training(session) as pilot:
        await look(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, TrainingScreen)
        assert not screen.query_one("#gpu").has_class("-silent")
        assert [round(known.silent_s, 1) for known in screen.history.gpus.all()] == [0.1, 30.0]


async def test_the_help_tells_what_the_driver_calls_take() -> None:
    session = of(gpu())
    session.nvml_ms_per_s = 2.13
    session.run(1)
    async with training(session, (100, 60)) as pilot:
        await look(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        text = await look(pilot)
        assert "driver calls  2.13 ms a second (0.21 % of the time)" in text
        assert "this screen   2.0 % of a core" in text


async def test_the_charts_can_span_a_day() -> None:
    session = of(gpu(), seconds=200)
    async with training(session) as pilot:
        await look(pilot)
        chart = pilot.app.screen.query_one("#gpu-utilisation TimeChart", TimeChart)
        spans = []
        for _ in range(5):
            await pilot.press("t")
            spans.append(chart.window_s)
        assert spans == [600.0, 3600.0, 21600.0, 86400.0, 120.0]
        await pilot.press("t")
        await pilot.pause()
        text = await look(pilot)
        assert "the charts span 10 min" in text
        assert "05:00" in chart.text


async def test_the_key_to_all_gpus_stands_in_the_folded_gpu_view() -> None:
    async with training(of(gpu()), (80, 24)) as pilot:
        await pilot.press("2")
        assert "g GPUs" in (await look(pilot)).splitlines()[-1]
