from __future__ import annotations

from dataclasses import replace

import pytest

from gputrain_tui.widgets.settings_panel import SettingRow, SettingsPanel
from showing import shown

ROWS = [
    SettingRow("device", "device", "device", "cuda:0", None, None, "d D"),
    SettingRow("batch_size", "batch size", "batch", "1024", "512", "2048", "b B"),
    SettingRow("model_size", "model size", "size", "×1", "×0.5", "×2", "m M"),
    SettingRow("precision", "precision", "", "fp32", None, None, "p"),
    SettingRow("execution", "execution", "", "eager", None, None, "x"),
    SettingRow("data_path", "data path", "", "resident", None, None, "l"),
    SettingRow("models_at_once", "models at once", "models", "1", None, "2", "n N"),
]


async def rows_of(panel: SettingsPanel, width: int, height: int, cursor: str | None = None) -> list[str]:
    async with shown(panel, size=(width, height)) as (app, pilot):
        panel.show_settings(ROWS, cursor)
        await pilot.pause()
        return app.rows()


async def test_a_panel_with_room() -> None:
    assert await rows_of(SettingsPanel(title="SETTINGS"), 50, 8, "batch_size") == [
        "SETTINGS                                       key",
        "  device          cuda:0                       d D",
        "▸ batch size      1024           512 ◂ ▸ 2048  b B",
        "  model size      ×1              ×0.5 ◂ ▸ ×2  m M",
        "  precision       fp32                         p",
        "  execution       eager                        x",
        "  data path       resident                     l",
        "  models at once  1                     ◂ ▸ 2  n N",
    ]


async def test_a_narrow_panel_does_without_the_neighbours() -> None:
    assert (await rows_of(SettingsPanel(), 34, 7))[:3] == [
        "  device          cuda:0       d D",
        "  batch size      1024         b B",
        "  model size      ×1           m M",
    ]


async def test_the_strip_fits_80_columns() -> None:
    assert await rows_of(SettingsPanel(strip=True), 80, 2) == [
        "d device cuda:0  b batch 1024  m size ×1  p fp32  x eager  l resident",
        "n models 1",
    ]
    assert await rows_of(SettingsPanel(strip=True), 84, 1) == [
        "d device cuda:0  b batch 1024  m size ×1  p fp32  x eager  l resident  n models 1"
    ]


async def test_in_too_little_room_the_strip_leaves_the_labels_out() -> None:
    panel = SettingsPanel(strip=True)
    panel.styles.height = 1
    assert await rows_of(panel, 66, 1) == ["d cuda:0  b 1024  m ×1  p fp32  x eager  l resident  n 1"]


@pytest.mark.parametrize("width", [15, 16, 31, 47, 69, 79])
async def test_no_setting_of_the_strip_is_divided(width: int) -> None:
    rows = await rows_of(SettingsPanel(strip=True), width, 10)
    items = [item for row in rows for item in row.split("  ") if item]
    assert items == [
        "d device cuda:0",
        "b batch 1024",
        "m size ×1",
        "p fp32",
        "x eager",
        "l resident",
        "n models 1",
    ]


async def test_what_is_asked_for_and_not_there_yet_is_marked() -> None:
    panel = SettingsPanel()
    async with shown(panel, size=(50, 8), diff=False) as (app, pilot):
        panel.show_settings(ROWS)
        await pilot.pause()
        app.take_sent()
        panel.show_settings([ROWS[0], replace(ROWS[1], value="2048", pending=True), *ROWS[2:]])
        await pilot.pause()
        assert app.rows()[1].startswith("  batch size      2048…")
        assert b"cuda" not in app.take_sent()
