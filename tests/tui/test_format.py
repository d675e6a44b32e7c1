from __future__ import annotations

import math

import pytest

from gputrain_tui import format


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1843210.4, "1,843,210"),
        (0, "0"),
        (128, "128"),
        (61.53, "61.5"),
        (3.214, "3.21"),
        (99.96, "100"),
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
    ],
)
def test_count(value: float | None, text: str) -> None:
    assert format.count(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1843210, "1.84 M"),
        (712_000, "712 k"),
        (128, "128"),
        (61.53, "61.5"),
        (999_700, "1.00 M"),
        (0, "0"),
        (0.0312, "0.0312"),
        (None, "n/a"),
    ],
)
def test_short(value: float | None, text: str) -> None:
    assert format.short(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (2e6, "2 M"), (5e5, "500 k"), (0.05, "0.05"), (1.5e6, "1.5 M"), (200, "200")],
)
def test_axis_labels_are_as_short_as_their_value_allows(value: float, text: str) -> None:
    assert format.axis(value) == text


@pytest.mark.parametrize(
    ("value_ms", "text"),
    [
        (0.5561, "0.556 ms"),
        (12.34, "12.3 ms"),
        (1240.0, "1.24 s"),
        (999.6, "1.00 s"),
        (999.4, "999 ms"),
        (0.0984, "0.098 ms"),
        (0.00421, "4.21 µs"),
        (0.99963, "1.00 ms"),
        (0.0, "0.000 ms"),
        (None, "n/a"),
    ],
)
def test_milliseconds(value_ms: float | None, text: str) -> None:
    assert format.milliseconds(value_ms) == text


def test_amounts_of_data() -> None:
    assert format.data(1_234_000_000) == "1.23 GB"
    assert format.data(0) == "0 B"
    assert format.data(None) == "n/a"
    assert format.data_rate(412_300_000) == "412 MB/s"
    assert format.data_rate(None) == "n/a"
    assert format.memory(143771 * 2**20) == "140 GiB"
    assert format.memory(int(1.25 * 2**30)) == "1.2 GiB"
    assert format.memory(24 * 2**30) == "24 GiB"
    assert format.memory(0) == "0 B"
    assert format.memory(1000 * 2**20) == "1000 MiB"
    assert format.memory(None) == "n/a"


def test_shares_and_ratios() -> None:
    assert format.percent(0.61) == "61 %"
    assert format.percent(0.0068, 1) == "0.7 %"
    assert format.percent(0.0) == "0 %"
    assert format.percent(None) == "n/a"
    assert format.ratio(1.7132) == "×1.71"
    assert format.ratio(24.06) == "×24.1"
    assert format.ratio(0.5833) == "×0.583"
    assert format.ratio(1.62, 2) == "×1.6"
    assert format.ratio(None) == "n/a"
    assert format.ratio_spread(1.713, 1.681, 1.742) == "×1.71 (1.68–1.74)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.03124, "0.0312"), (2.3, "2.30"), (123.4, "123"), (1.2e-5, "1.20e-05"), (None, "n/a")],
)
def test_loss(value: float | None, text: str) -> None:
    assert format.loss(value) == text


def test_times() -> None:
    assert format.elapsed(133.9) == "00:02:13"
    assert format.elapsed(90_061) == "25:01:01"
    assert format.elapsed(None) == "n/a"
    assert format.clock(121.4) == "02:01"
    assert format.clock(3721) == "1:02:01"
    assert format.clock(-1) == "00:00"


def test_settings() -> None:
    assert format.setting("model_size", "x0.25") == "×0.25"
    assert format.setting("model_size", "h750") == "h750"
    assert format.setting("device", "xpu") == "xpu"
    assert format.setting("batch_size", 65536) == "65536"
    assert format.setting_change("batch_size", 256, 512) == "batch 256 → 512"
    assert format.setting_change("model_size", "x1", "x2") == "size ×1 → ×2"
    assert format.setting_change("data_path", "host", "resident") == "host → resident"
    assert format.setting_change("models_at_once", 1, 2) == "models 1 → 2"


@pytest.mark.parametrize(
    ("flops_per_s", "text"),
    [(1.754e11, "175 GFLOP/s"), (7.9e14, "790 TFLOP/s"), (2.5e9, "2.50 GFLOP/s"), (3.4e5, "0.34 MFLOP/s")],
)
def test_flops(flops_per_s: float, text: str) -> None:
    assert format.flops_rate(flops_per_s) == text
