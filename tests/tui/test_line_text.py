from __future__ import annotations

from collections.abc import Iterator

import pytest

from gputrain_tui.widgets.glyphs import set_glyphs
from gputrain_tui.widgets.text import fitted, padded, runs_of, shorten, text_of, width_of, wrapped


@pytest.fixture
def ascii_mode() -> Iterator[None]:
    set_glyphs("ascii")
    yield
    set_glyphs("braille")


def test_text_is_shortened_at_a_words_end() -> None:
    text = "needs about 160 GB, 139 are free"
    assert shorten(text, 32) == text
    assert shorten(text, 31) == "needs about 160 GB, 139 are…"
    assert shorten(text, 20) == "needs about 160 GB…"
    assert shorten(text, 19) == "needs about 160 GB…"
    assert shorten(text, 18) == "needs about 160…"
    assert shorten(text, 6) == "needs…"
    assert shorten(text, 1) == "…"
    assert shorten(text, 0) == ""


def test_a_single_long_word_is_cut_because_it_must() -> None:
    assert shorten("libnvidia-ml.so.1", 10) == "libnvidia…"


@pytest.mark.usefixtures("ascii_mode")
def test_the_ellipsis_takes_its_room_in_ascii() -> None:
    assert shorten("one two three", 9) == "one..."
    assert len(shorten("one two three", 10)) <= 10


def test_no_shortened_text_is_ever_too_wide() -> None:
    text = "模型 batch 256 → 512 didn't work: out of memory"
    for width in range(60):
        assert width_of(shorten(text, width)) <= width


def test_runs_of_the_same_role_are_one() -> None:
    assert runs_of(["a", "b", ("c", "dim"), ("d", "dim"), "  ", ("", "strong")]) == (
        ("ab", ""),
        ("cd  ", "dim"),
    )
    assert runs_of("plain") == (("plain", ""),)
    assert runs_of("") == ()


def test_runs_are_shortened_across_their_borders() -> None:
    runs = runs_of([("label ", "dim"), ("1,234 samples", "strong"), " a second"])
    assert fitted(runs, 40) == runs
    assert text_of(fitted(runs, 22)) == "label 1,234 samples a…"
    assert fitted(runs, 14) == (("label ", "dim"), ("1,234…", "strong"))


def test_text_is_wrapped_at_spaces() -> None:
    text = "batch 65536 → back to 8192: needs about 160 GB"
    assert wrapped(text, 30, 2) == ["batch 65536 → back to 8192:", "needs about 160 GB"]
    assert wrapped(text, 20, 2) == ["batch 65536 → back", "to 8192: needs…"]
    assert wrapped("short", 20, 2) == ["short"]


def test_padding_counts_cells() -> None:
    assert padded("模", 4) == "模  "
    assert padded("7", 3, right=True) == "  7"
    assert padded("wide", 2) == "wide"
