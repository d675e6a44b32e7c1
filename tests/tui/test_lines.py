from __future__ import annotations

from gputrain_tui.widgets.lines import Lines, changed_span
from gputrain_tui.widgets.text import runs_of
from showing import shown


async def test_lines_are_drawn_in_their_room() -> None:
    lines = Lines(["one", [("two ", "dim"), ("2", "strong")], "a line that is too long"])
    async with shown(lines, size=(14, 5)) as (app, _):
        assert app.rows() == ["one", "two 2", "a line that…", "", ""]
        assert lines.text == "one\ntwo 2\na line that…"


async def test_only_the_line_that_changed_is_sent() -> None:
    lines = Lines(["speed 1,843,210 samples/s", "loss 0.0312", "memory 412 MB"])
    async with shown(lines, size=(40, 5), diff=False) as (app, pilot):
        lines.show(["speed 1,843,210 samples/s", "loss 0.0311", "memory 412 MB"])
        await pilot.pause()
        sent = app.take_sent()
        assert b"loss 0.0311" in sent
        assert b"speed" not in sent and b"memory" not in sent
        assert len(sent) < 40


async def test_nothing_is_sent_where_nothing_changed() -> None:
    lines = Lines(["speed 1,843,210", [("loss", "dim"), " 0.0312"]])
    async with shown(lines, size=(40, 3), diff=False) as (app, pilot):
        lines.show(["speed 1,843,210", [("loss", "dim"), " 0.03", "12"]])
        await pilot.pause()
        assert app.take_sent() == b""


async def test_a_hidden_block_draws_nothing_and_catches_up_when_shown() -> None:
    lines = Lines(["before"])
    async with shown(lines, size=(20, 3)) as (app, pilot):
        lines.display = False
        await pilot.pause()
        app.take_sent()
        lines.show(["after"])
        await pilot.pause()
        assert app.take_sent() == b""
        lines.display = True
        await pilot.pause()
        assert app.rows()[0] == "after"


async def test_lines_follow_the_size_of_the_terminal() -> None:
    lines = Lines(["needs about 160 GB, 139 are free"])
    async with shown(lines, size=(40, 3)) as (app, pilot):
        await pilot.resize_terminal(24, 3)
        await pilot.pause()
        assert app.rows()[0] == "needs about 160 GB, 139…"
        await pilot.resize_terminal(1, 1)
        await pilot.pause()
        assert app.rows() == ["…"]
        await pilot.resize_terminal(40, 3)
        await pilot.pause()
        assert app.rows()[0] == "needs about 160 GB, 139 are free"


async def test_more_lines_make_a_block_of_automatic_height_higher() -> None:
    lines = Lines(["one"])
    async with shown(lines, Lines(["below"]), size=(20, 5)) as (app, pilot):
        lines.show(["one", "two"])
        await pilot.pause()
        assert app.rows()[:3] == ["one", "two", "below"]


async def test_roles_carry_a_style_without_colour_too() -> None:
    lines = Lines([["plain ", ("strong", "strong"), " ", ("chosen", "accent"), " ", ("warned", "warning")]])
    async with shown(lines, size=(40, 1)) as (app, _):
        styles = {
            segment.text.strip(): segment.style for segment in app.screen._compositor.render_strips()[0]
        }
        assert styles["strong"] is not None and styles["strong"].bold
        assert styles["chosen"] is not None and styles["chosen"].bold
        assert styles["plain"] is not None and not styles["plain"].bold


def test_the_changed_span_of_a_line() -> None:
    old = runs_of([("loss ", "dim"), ("0.0312", "strong"), " after"])
    assert changed_span(old, runs_of([("loss ", "dim"), ("0.0311", "strong"), " after"])) == (10, 11)
    assert changed_span(old, runs_of([("loss ", "dim"), ("0.0312", "warning"), " after"])) == (5, 11)
    assert changed_span(old, runs_of([("loss ", "dim"), ("0.0312", "strong")])) == (12, 17)
    assert changed_span(runs_of("a模b"), runs_of("a模c")) == (3, 4)
    assert changed_span(runs_of("abc"), runs_of("abd")) == (2, 3)
    assert changed_span((), runs_of("ab")) == (0, 2)
