"""The grid of a sweep, spelt out."""

from __future__ import annotations

import pytest
from msgspec import structs

from fake_sweep_worker import DEVICES, plan, tiny
from gputrain_presets import load
from gputrain_runner.options import AUTO
from gputrain_runner.protocol import Hello
from gputrain_runner.settings import Value
from gputrain_runner.sweep import Chosen, Point, plan_points
from gputrain_runner.sweep.plan import PlanError, on_devices

HELLO = Hello(torch="2.99", cuda=None, cudnn=None, devices=DEVICES, threads=2)
NO_GPU = structs.replace(HELLO, devices=DEVICES[1:], cuda_absence="no driver: install one")


def shown(points: list[Point]) -> list[tuple[str, str, str, int]]:
    return [(p.preset, p.settings.model_size, p.settings.passes, p.settings.batch_size) for p in points]


def test_presets_are_outermost_and_batches_ascend_within_a_family() -> None:
    over: dict[str, list[Value]] = {"batch_size": [8, 2, 4], "model_size": ["small", "large"]}
    chosen = [Chosen("one", tiny("one"), over), Chosen("two", tiny("two"), {})]
    found = shown(plan_points(chosen, ["cpu"], ["forward", "training"]))
    assert len(found) == 14
    assert found[:7] == [
        ("one", "small", "forward", 2),
        ("one", "small", "forward", 4),
        ("one", "small", "forward", 8),
        ("one", "small", "training", 2),
        ("one", "small", "training", 4),
        ("one", "small", "training", 8),
        ("one", "large", "forward", 2),
    ]
    assert found[-2:] == [("two", "small", "forward", 8), ("two", "small", "training", 8)]


def test_no_point_comes_twice() -> None:
    chosen = [Chosen("tiny", tiny(), {"batch_size": [4, 4]}), Chosen("tiny", tiny(), {"batch_size": [4]})]
    assert len(plan_points(chosen, ["cpu", "cpu"], ["training"])) == 1


def test_other_names_of_a_preset_are_points_of_their_own() -> None:
    chosen = [Chosen(load(word).name, load(word), {}) for word in ("resnet50", "resnet101", "resnet152")]
    found = shown(plan_points(chosen, ["cpu"], ["training"]))
    assert [size for _, size, _, _ in found] == ["50", "101", "152"]
    assert {name for name, _, _, _ in found} == {"resnet"}


def test_settings_that_mean_nothing_to_a_preset_are_null() -> None:
    (point,) = plan_points([Chosen("tiny", tiny(), {})], ["cpu"], ["training"])
    assert point.settings.memory_format is None and point.settings.recurrence is None
    (image,) = plan_points([Chosen("alexnet", load("alexnet"), {})], ["cpu"], ["training"])
    assert image.settings.memory_format == "channels_first"


def test_runs_are_spread_over_the_rounds_without_a_loss() -> None:
    for runs, rounds in ((100, 2), (7, 3), (5, 5)):
        each = [plan(8, runs=runs, rounds=rounds).runs_in(number) for number in range(rounds)]
        assert sum(each) == runs and max(each) - min(each) <= 1


def test_the_best_device_stands_in_where_none_is_named() -> None:
    placed = on_devices(plan(8, 16, device=AUTO), HELLO)
    assert [point.settings.device for point in placed.points] == ["cuda:0", "cuda:0"]
    assert on_devices(plan(8, device="cpu"), HELLO).points[0].settings.device == "cpu"


def test_a_device_that_is_not_there_is_refused_with_the_reason() -> None:
    with pytest.raises(PlanError, match="there is no device cuda:1; there are cuda:0, cpu"):
        on_devices(plan(8, device="cuda:1"), HELLO)
    with pytest.raises(PlanError, match="there are cpu; no driver: install one"):
        on_devices(plan(8, device="cuda:0"), NO_GPU)


def test_what_takes_more_memory() -> None:
    (small,) = plan(8).points
    assert not small.takes_more_than(small)

    def other(**values: object) -> Point:
        return structs.replace(small, settings=structs.replace(small.settings, **values))

    assert other(batch_size=16).takes_more_than(small)
    assert not small.takes_more_than(other(batch_size=16))
    assert small.takes_more_than(other(passes="forward"))
    assert not other(passes="forward", batch_size=16).takes_more_than(small)
    assert other(models_at_once=2).takes_more_than(small)
    assert not other(batch_size=16, precision="bf16").takes_more_than(small)
    assert not other(batch_size=16, model_size="large").takes_more_than(small)
