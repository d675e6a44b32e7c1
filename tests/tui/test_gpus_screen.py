"""The screen of all GPUs: a row for each, everything known of the marked one, at every size."""

from __future__ import annotations

import re

import pytest
from msgspec import structs
from textual.pilot import Pilot

from fake_feed import NO_GPU, FakeSession
from gpus import DETAIL, FULL, MEMORY, gpu, nameless
from gputrain_runner.timeline import Gpu, GpuDetail
from gputrain_tui.screens.gpus import GpusScreen
from gputrain_tui.screens.help import HelpScreen
from gputrain_tui.screens.training import TrainingScreen
from screen_text import screen_text, training

SIZES = [(80, 24), (120, 40), (160, 48)]


def of(*gpus: Gpu) -> FakeSession:
    session = FakeSession(gpu=True)
    session.gpus = list(gpus)
    session.memory, session.busy = MEMORY, 0.21
    session.run(3)
    return session


async def opened(pilot: Pilot[None]) -> GpusScreen:
    """The screen, by its key."""
    below = pilot.app.screen
    assert isinstance(below, TrainingScreen)
    below.pull()
    await pilot.press("g")
    await pilot.pause()
    await drawn(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, GpusScreen)
    return screen


async def drawn(pilot: Pilot[None]) -> str:
    """What it shows after taking in the newest sample."""
    for screen in pilot.app.screen_stack:
        if isinstance(screen, TrainingScreen):
            screen.pull()
    top = pilot.app.screen
    assert isinstance(top, GpusScreen)
    for _ in range(2):
        top.draw()
        await pilot.pause()
    return screen_text(pilot.app)


def row(text: str, start: str) -> str:
    """The row that begins with this, runs of spaces as one."""
    rows = [" ".join(line.split()) for line in text.splitlines()]
    return next(line for line in rows if line.startswith(start))


@pytest.mark.parametrize("size", SIZES)
async def test_each_gpu_has_its_row_with_its_own_numbers(size: tuple[int, int]) -> None:
    cards = [
        gpu(0, throttled={}),
        gpu(
            1,
            name="NVIDIA GeForce RTX 4090",
            utilisation=0.97,
            sm_active=0.5,
            memory_used_bytes=23 * 2**30,
            memory_total_bytes=24 * 2**30,
            pcie_rx_bytes_per_s=21.5e9,
            pcie_tx_bytes_per_s=655e3,
            sm_clock_mhz=2520,
            power_w=447.0,
            temperature_c=83,
            throttle=["sw_thermal_slowdown"],
            throttled={},
        ),
    ]
    async with training(of(*cards), size) as pilot:
        await opened(pilot)
        text = await drawn(pilot)
        first, second = row(text, "▸● 0 H200"), row(text, "1 RTX 4090")
        active, other = ("4 ", "50 ") if size[0] > 100 else ("", "")
        assert re.search(rf" 61 █+░+ {active}1.7 / 141 412 M 3.21 M 1,410 142 38 (-|nothing)$", first), first
        assert re.search(rf" 97 █+░* {other}23.0 / 24 21.5 G 655 k 2,520 447 83 thermal", second), second


@pytest.mark.parametrize("size", SIZES)
async def test_eight_gpus_have_eight_rows_and_the_one_that_trains_is_marked(size: tuple[int, int]) -> None:
    session = of(*(gpu(n, temperature_c=40 + n) for n in range(8)))
    session.devices = [structs.replace(session.devices[0], uuid="GPU-6"), session.devices[1]]
    async with training(session, size) as pilot:
        await opened(pilot)
        text = await drawn(pilot)
        assert "8 GPUs" in text
        for n in range(8):
            start = f"▸● {n} H200" if n == 5 else f"{n} H200"
            assert f" {40 + n} " in row(text, start) + " "
        assert re.search(r"^ GPU 5  NVIDIA H200  GPU-6", text, re.MULTILINE)


@pytest.mark.parametrize("size", SIZES)
async def test_another_gpu_is_marked_and_its_facts_are_shown(size: tuple[int, int]) -> None:
    session = of(gpu(0), gpu(1, detail=structs.replace(DETAIL, pci_bus_id="00000000:5D:00.0")))
    async with training(session, size) as pilot:
        await opened(pilot)
        await pilot.press("down")
        text = await drawn(pilot)
        assert row(text, "▸ 1 H200")
        assert "GPU 1  NVIDIA H200  GPU-2" in text
        await pilot.press("down", "down", "up")
        text = await drawn(pilot)
        assert row(text, "▸● 0 H200")


def fields(struct: type[Gpu] | type[GpuDetail]) -> list[str]:
    own = {"index", "uuid", "detail", "mig"} if struct is Gpu else set()
    return [field.name for field in structs.fields(struct) if field.name not in own]


async def test_everything_the_driver_tells_can_be_seen() -> None:
    trouble = {"trouble": "the power cannot be read"}
    # Of another GPU than the one that trains: of that one PyTorch tells the memory.
    session = of(gpu(1, **trouble))
    async with training(session, (160, 60)) as pilot:
        await opened(pilot)
        whole = await drawn(pilot)
        found: list[dict[str, object]] = [{name: 30.0 if name == "age_s" else None} for name in fields(Gpu)]
        found += [
            {"detail": structs.replace(DETAIL, **{name: [] if name == "denied" else None})}
            for name in fields(GpuDetail)
        ]
        for changed in found:
            session.gpus = [gpu(1, **(trouble | changed))]
            session.run(0.25)
            assert await drawn(pilot) != whole, changed
            session.gpus = [gpu(1, **trouble)]
            session.run(0.25)
            assert await drawn(pilot) == whole, changed


FACTS = (
    "busy 21 %",
    "used 1.7 GiB of 141 GiB",
    "allocated 300 MiB",
    "context 912 MiB",
    "now gen 4 ×8",
    "card and slot gen 5 ×16",
    "card alone gen 6",
    "carries 63.0 GB/s",
    "rx 412 MB/s, 0.7 %",
    "tx 3.21 MB/s, <0.1 %",
    "rates GPM averages",
    "replays 41",
    "NVLink rx 8.80 GB/s",
    "NVLink tx 7.70 GB/s",
    "memory clock 2,619 of 3,201 MHz",
    "performance P2",
    "fan 31 %",
    "power cap 34 % now, 2 min in all",
    "persistence on",
    "compute mode exclusive process",
    "virtual passed through",
    "driver model TCC",
    "ECC on",
    "corrected 17",
    "uncorrected 3",
    "rows replaced 5 corrected, 2 not",
    "row to replace yes",
    "spares used up no",
    "Xid errors 63, 79",
    "4711 1.3 GiB this training python",
    "812 384 MiB another's Xorg",
    "this user may not read: rows replaced after corrected errors",
)


async def test_how_the_facts_are_written() -> None:
    async with training(of(gpu()), (160, 60)) as pilot:
        await opened(pilot)
        text = " ".join((await drawn(pilot)).split())
        assert [fact for fact in FACTS if fact not in text] == []


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_not_known_is_n_a(size: tuple[int, int]) -> None:
    async with training(of(nameless()), size) as pilot:
        await opened(pilot)
        text = await drawn(pilot)
        assert row(text, "▸● 0").count("n/a") >= 8
        facts = text[text.index("ACTIVITY") :]
        assert facts.count("n/a") > 10
        assert not re.search(r"\b0(\.0+)? (%|W|MiB|B/s)", facts)


@pytest.mark.parametrize("size", SIZES)
async def test_without_a_gpu_it_says_why(size: tuple[int, int]) -> None:
    async with training(FakeSession(), size) as pilot:
        await opened(pilot)
        text = " ".join((await drawn(pilot)).split())
        assert "no GPU" in text
        assert " ".join(NO_GPU.split()) in text
        await pilot.press("down", "pagedown")
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(pilot.app.screen, TrainingScreen)


async def test_it_scrolls_to_the_last_fact_at_the_smallest_size() -> None:
    async with training(of(*(gpu(n) for n in range(8))), (80, 24)) as pilot:
        await opened(pilot)
        assert "PROCESSES" not in await drawn(pilot)
        seen = ""
        for _ in range(8):
            await pilot.press("pagedown")
            seen += await drawn(pilot)
        assert "Xid errors" in seen
        assert "this training  python" in seen
        await pilot.press(*["pageup"] * 8)
        assert "ACTIVITY" in await drawn(pilot)


@pytest.mark.parametrize("key", ["escape", "g"])
async def test_it_goes_on_while_it_is_open_and_the_training_screen_has_missed_nothing(key: str) -> None:
    session = of(gpu(temperature_c=38))
    async with training(session) as pilot:
        await opened(pilot)
        session.gpus = [gpu(temperature_c=71)]
        session.run(5, 2_000_000)
        session.make_change("batch_size", 2048)
        text = await drawn(pilot)
        assert "temperature    71 °C" in text
        await pilot.press(key)
        for _ in range(100):  # It is drawn once it has the screen, which a busy machine delays.
            await pilot.pause()
            text = screen_text(pilot.app)
            if isinstance(pilot.app.screen, TrainingScreen) and "71 °C" in text:
                break
        assert isinstance(pilot.app.screen, TrainingScreen)
        assert "71 °C" in text
        assert "batch 1024 → 2048" in text


async def test_a_warning_is_told_on_it_too() -> None:
    session = of(gpu())
    async with training(session) as pilot:
        await opened(pilot)
        session.say("the loss is not a number", "warning")
        assert "the loss is not a number" in await drawn(pilot)


async def test_a_gpu_that_is_silent_stands_grey_with_its_last_values() -> None:
    session = of(gpu(0), gpu(1))
    trouble = "GPU 1: no permission to read fan"
    session.gpus = [gpu(0), Gpu(index=1, uuid="GPU-2", age_s=42.0, trouble=trouble)]
    session.run(1)
    async with training(session) as pilot:
        await opened(pilot)
        await pilot.press("down")
        text = await drawn(pilot)
        assert "silent 42 s" in row(text, "▸ 1 H200")
        assert "1,410" in row(text, "▸ 1 H200")
        assert "driver silent for 42 s; training goes on (no permission to read fan)" in text


async def test_the_help_on_it_is_its_own() -> None:
    async with training(of(gpu()), (100, 50)) as pilot:
        await opened(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(pilot.app.screen, HelpScreen)
        text = screen_text(pilot.app)
        assert "mark a GPU" in text
        assert "double, halve" not in text


async def test_parts_of_a_gpu_are_told_apart() -> None:
    parts = [gpu(0), structs.replace(FULL, uuid="MIG-1", mig=0), structs.replace(FULL, uuid="MIG-2", mig=1)]
    async with training(of(*parts), (120, 40)) as pilot:
        await opened(pilot)
        text = await drawn(pilot)
        assert row(text, "0 MIG 0 H200")
        assert row(text, "0 MIG 1 H200")
