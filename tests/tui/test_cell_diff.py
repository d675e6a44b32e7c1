from __future__ import annotations

import random
from unicodedata import normalize

import pyte
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.color import Color
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Label, Static

from gputrain_tui.cell_diff import ScreenMemory, cells_of
from gputrain_tui.widgets.glyphs import set_glyphs
from gputrain_tui.widgets.lines import Lines
from showing import Shown, shown

COLOURS = ColorSystem.EIGHT_BIT


def memory_of(*rows: str) -> ScreenMemory:
    memory = ScreenMemory()
    memory.fit(len(rows[0]), len(rows))
    memory.update(((0, y, Strip([Segment(row)])) for y, row in enumerate(rows)), COLOURS)
    return memory


def strip(*segments: tuple[str, Style | None]) -> Strip:
    return Strip([Segment(text, style) for text, style in segments])


def test_only_what_changed_is_sent() -> None:
    memory = memory_of("speed 1,843,210", "loss 0.0312    ")
    assert memory.update([(0, 0, strip(("speed 1,843,210", None)))], COLOURS) == ""
    assert memory.update([(0, 0, strip(("speed 1,843,999", None)))], COLOURS) == "\x1b[1;13H999"
    assert memory.update([(5, 1, strip(("0.0311", None)))], COLOURS) == "\x1b[2;11H1"


def test_a_short_gap_is_written_over_and_a_long_one_jumped() -> None:
    memory = memory_of("abcdefghijklmnop")
    assert memory.update([(0, 0, strip(("aXcdefghijklmnop", None)))], COLOURS) == "\x1b[1;2HX"
    assert memory.update([(0, 0, strip(("aYcdZfghijklmnop", None)))], COLOURS) == "\x1b[1;2HYcdZ"
    assert memory.update([(0, 0, strip(("aXcdZfghijklmQop", None)))], COLOURS) == "\x1b[1;2HX\x1b[14GQ"


def test_a_style_is_sent_once_for_all_it_covers() -> None:
    memory = memory_of("          ", "          ")
    bold = Style(bold=True)
    pieces = [(0, 0, strip(("ab", bold), ("cd", bold))), (0, 1, strip(("ef", bold), ("gh", None)))]
    assert memory.update(pieces, COLOURS) == "\x1b[1;1H\x1b[1mabcd\x1b[2;1Hef\x1b[0mgh"


def test_the_terminals_own_colours_need_no_words() -> None:
    own = Style(color="default", bgcolor="default")
    coloured = Style(color="color(38)", bgcolor="default", bold=True)
    assert cells_of(strip(("a", own)), COLOURS) == [("a", "", "")]
    assert cells_of(strip(("a", coloured)), COLOURS) == [("a", "\x1b[1;38;5;38m", "\x1b[0m")]
    tricky = Style(color="color(49)", bgcolor="color(39)")
    assert cells_of(strip(("a", tricky)), COLOURS) == [("a", "\x1b[38;5;49;48;5;39m", "\x1b[0m")]


def test_a_changed_style_alone_is_a_change() -> None:
    memory = memory_of("abc")
    sent = memory.update([(0, 0, strip(("a", None), ("b", Style(bold=True)), ("c", None)))], COLOURS)
    assert sent == "\x1b[1;2H\x1b[1mb\x1b[0m"


def test_wide_characters_are_written_whole() -> None:
    memory = memory_of("        ")
    assert memory.update([(0, 0, strip(("a模型b", None)))], COLOURS) == "\x1b[1;1Ha模型b"
    assert memory.update([(0, 0, strip(("a模机b", None)))], COLOURS) == "\x1b[1;4H机"
    assert memory.update([(0, 0, strip(("a模xyb", None)))], COLOURS) == "\x1b[1;4Hxy"


def test_a_mark_without_width_belongs_to_its_letter() -> None:
    assert cells_of(strip(("e\u0301x", None)), COLOURS) == [("e\u0301", "", ""), ("x", "", "")]
    assert cells_of(strip(("模\u0301", None)), COLOURS) == [("模\u0301", "", ""), ("", "", "")]


def test_a_forgotten_screen_is_sent_again() -> None:
    memory = memory_of("same", "rows")
    memory.forget()
    assert memory.update([(0, 0, strip(("same", None)))], COLOURS) == "\x1b[1;1Hsame"
    memory.fit(5, 2)
    assert memory.update([(0, 1, strip(("rows ", None)))], COLOURS) == "\x1b[2;1Hrows "


def test_in_ascii_mode_nothing_else_reaches_the_terminal() -> None:
    memory = memory_of("        ")
    set_glyphs("ascii")
    try:
        assert memory.update([(0, 0, strip(("│→模é⣀", None)))], COLOURS).isascii()
    finally:
        set_glyphs("braille")


class Dialog(ModalScreen[None]):
    CSS = "Dialog { align: center middle; } Dialog Static { width: 20; height: 4; border: solid red; }"

    def compose(self) -> ComposeResult:
        yield Static("模 a dialogue\nin the way")


async def assert_same(app: Shown, terminal: pyte.Screen, stream: pyte.ByteStream) -> None:
    stream.feed(app.take_sent())
    # The emulator composes a letter and its mark into one character.
    assert [row.rstrip() for row in terminal.display] == [normalize("NFC", row) for row in app.rows()]


async def test_a_terminal_shows_the_same_as_textual_drew() -> None:
    """A random walk over changed texts, moved and hidden widgets, dialogues and resizes."""
    chance = random.Random(3)
    words = ["loss", "0.0312", "×1.71", "模型", "⣀⠤⠒⠉", "batch 256 → 512", "", "e\u0301te\u0301", "▲"]
    left, right, label = Lines(["left"]), Lines(["right"]), Label("label")
    terminal = pyte.Screen(60, 12)
    stream = pyte.ByteStream(terminal)
    app = Shown(Horizontal(left, right), label)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.pause()
        for _ in range(40):
            match chance.randrange(8):
                case 0:
                    width, height = chance.randrange(20, 70), chance.randrange(5, 14)
                    await pilot.resize_terminal(width, height)
                    terminal.resize(height, width)
                    terminal.erase_in_display(2)
                case 1:
                    left.display = not left.display
                case 2 if len(app.screen_stack) == 1:
                    await app.push_screen(Dialog())
                case 2:
                    await app.pop_screen()
                case 3:
                    label.styles.color = Color(chance.randrange(256), 9, 9)
                case _:
                    for lines in (left, right):
                        lines.show(
                            [" ".join(chance.choices(words, k=5)) for _ in range(chance.randrange(1, 6))]
                        )
                    label.update(chance.choice(words))
            await pilot.pause()
            await assert_same(app, terminal, stream)


async def test_redrawing_sends_what_textual_thinks_is_there() -> None:
    async with shown(Lines(["the text"]), size=(20, 2)) as (app, pilot):
        app.screen.refresh()
        await pilot.pause()
        assert b"the text" not in app.take_sent()
        app.action_redraw()
        await pilot.pause()
        assert b"the text" in app.take_sent()


async def test_after_suspension_the_whole_screen_is_sent() -> None:
    async with shown(Lines(["the text"]), size=(20, 2)) as (app, pilot):
        app.app_resume_signal.publish(app)
        await pilot.pause()
        assert b"the text" in app.take_sent()
