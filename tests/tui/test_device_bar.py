"""The device's bar: how much of a step it worked, to scale, and what it did else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import structs

from gputrain_runner.timeline import KindOfWork, Phase, Profile, Sample
from gputrain_tui.device_share import DeviceShare
from gputrain_tui.widgets.device_bar import device_bar
from gputrain_tui.widgets.text import runs_of, text_of, width_of
from timelines import SETTINGS, sample


def drawn(shares: Sequence[tuple[str, float]] | None, width: int) -> str:
    """The bar in text; its filled part in brackets in place of the mark at its begin."""
    line = device_bar("device", shares, width, 7)
    assert width_of(line) <= width
    return "".join(
        f"[{text[1:]}]" if role == "segment-alt" else text for text, role in runs_of(line) if text
    ).rstrip()


def test_what_each_part_is_stands_in_it() -> None:
    assert drawn([("busy", 0.5), ("idle", 0.5)], 40) == "device [busy 50 %      ]▏idle 50 %      ▏"
    assert (
        drawn([("operators", 0.62), ("Python and dispatch", 0.38)], 78)
        == "device [operators 62 %                            ]▏Python and dispatch 38 %  ▏"
    )
    three = [("operators", 0.4), ("waits for data", 0.3), ("Python and dispatch", 0.3)]
    assert (
        drawn(three, 90)
        == "device [operators 40 %                  ]▏waits for data 30 %  Python and dispatch 30 %   ▏"
    )


def test_without_room_for_all_reasons_the_main_one_is_told() -> None:
    shares = [("operators", 0.5), ("waits for data", 0.2), ("Python and dispatch", 0.3)]
    assert (
        drawn(shares, 78) == "device [operators 50 %                    ]▏Python and dispatch 30 %          ▏"
    )


def test_a_small_part_is_told_in_the_large_one() -> None:
    assert drawn([("busy", 0.04), ("idle", 0.96)], 40) == "device []▏busy 4 %  idle 96 %           ▏"
    assert drawn([("busy", 0.97), ("idle", 0.03)], 40) == "device [busy 97 %  idle 3 %           ]▏▏"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("width", [12, 20, 41, 160])
def test_it_is_as_wide_as_there_is_room(share: float, width: int) -> None:
    line = device_bar("device", [("busy", share), ("idle", 1 - share)], width, 7)
    assert width_of(line) == width
    filled = sum(len(text) for text, role in runs_of(line) if role == "segment-alt")
    assert (filled == 0) == (share == 0)
    assert filled <= width - 8


def test_what_is_not_known_says_so() -> None:
    line = device_bar("device", None, 60, 7)
    assert text_of(runs_of(line)) == "device n/a until profiled"
    assert {role for _, role in runs_of(line)} == {"dim"}


def profile(work_ms: float, step_ms: float = 10.0, supply_ms: float | None = None) -> Profile:
    kinds = {"matmul": KindOfWork(ms=work_ms, count=11)}
    return Profile(steps=5, step_ms=step_ms, work_ms=work_ms, launches=11, work=kinds, supply_ms=supply_ms)


def with_data(data_ms: float, **more: object) -> Sample:
    phases = {"data": Phase(host_ms=data_ms), "h2d": Phase(host_ms=0.0), "forward": Phase(host_ms=5.0)}
    return structs.replace(sample(1.0), phases=phases, **more)


def test_on_a_gpu_it_is_busy_or_idle() -> None:
    share = DeviceShare()
    gpu = SETTINGS.with_value("device", "cuda:0")
    share.take(structs.replace(sample(1.0, settings=gpu)))
    assert share.shares is None
    share.take(structs.replace(sample(1.3, settings=gpu), busy=0.21, profile=profile(2.1)))
    assert share.shares == [("busy", 0.21), ("idle", 0.79)]
    share.take(structs.replace(sample(1.5, settings=gpu), busy=0.21))
    assert share.shares == [("busy", 0.21), ("idle", 0.79)]
    share.take(sample(1.8, settings=gpu.with_value("batch_size", 2048)))
    assert share.shares is None


def test_on_a_cpu_it_works_or_waits_for_python() -> None:
    share = DeviceShare()
    share.take(with_data(0.5, profile=profile(6.2, supply_ms=0.3)))
    assert share.shares == [("operators", 0.62), ("Python and dispatch", 0.38)]
    share.take(sample(1.3))
    assert share.shares is not None
    share.take(sample(1.5, settings=SETTINGS.with_value("threads", 1)))
    assert share.shares is None


def test_a_cpu_that_waits_for_data_says_so() -> None:
    share = DeviceShare()
    loader = SETTINGS.with_value("data_path", "loader")
    share.take(with_data(4.1, settings=loader, profile=profile(4.0, supply_ms=0.1)))
    assert share.shares is not None
    assert [name for name, _ in share.shares] == ["operators", "waits for data", "Python and dispatch"]
    assert [part for _, part in share.shares] == pytest.approx([0.4, 0.4, 0.2])
