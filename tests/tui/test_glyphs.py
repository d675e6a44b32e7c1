from __future__ import annotations

from collections.abc import Iterator

import pytest

from gputrain_tui.widgets.glyphs import fit, fit_cell, glyphs, glyphs_for, set_glyphs


@pytest.fixture(autouse=True)
def braille_afterwards() -> Iterator[None]:
    yield
    set_glyphs("braille")


def test_text_stays_as_it_is_where_the_terminal_can_show_it() -> None:
    for name in ("braille", "block"):
        set_glyphs(name)
        assert fit("▲ batch 256 → 512 ×1.71") == "▲ batch 256 → 512 ×1.71"


def test_ascii_mode_replaces_every_other_character() -> None:
    set_glyphs("ascii")
    assert fit("▲ host → resident ×1.71 (1.68–1.74)…") == "^ host -> resident x1.71 (1.68-1.74)..."
    assert fit("38 °C, 4.21 µs, 224²") == "38 C, 4.21 us, 224^2"
    assert fit("naïve 模") == "naive ?"


def test_at_the_terminals_edge_a_cell_stays_a_cell() -> None:
    set_glyphs("ascii")
    assert [fit_cell(character) for character in "→…─a²"] == [">", "~", "-", "a", "2"]
    assert fit_cell("模") == "??"
    set_glyphs("braille")
    assert fit_cell("→") == "→"


def test_the_encoding_decides_what_a_terminal_is_given() -> None:
    assert glyphs_for("UTF-8") == glyphs_for("utf8") == "braille"
    assert glyphs_for("ISO-8859-1") == glyphs_for("ascii") == glyphs_for(None) == "ascii"


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(ValueError, match="glyphs: found 'emoji', allowed: braille, block, ascii"):
        set_glyphs("emoji")
    assert glyphs() == "braille"
