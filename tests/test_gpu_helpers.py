"""The order of the tests for a GPU and the load they watch, tried where there is none."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

import gpu_load
import gpu_plan

FOLDER = Path(__file__).parent / "gpu"


def names_in(file: Path) -> list[str]:
    return [
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def test_every_place_names_a_test_that_there_is() -> None:
    there = {file.stem: names_in(file) for file in FOLDER.glob("test_*.py")}

    for file, test in (*gpu_plan.FIRST, *gpu_plan.LAST):
        assert any(each.startswith(test) for each in there[file]), (file, test)


def test_the_most_telling_come_first_and_the_slowest_last() -> None:
    wanted = [
        ("test_verdicts_on_gpu", "test_anything"),
        ("test_execution_on_gpu", "test_how_much_faster_a_graph_is[lasagne-mlp]"),
        ("test_training_on_gpu", "test_cpu_to_gpu_and_back_keeps_the_loss_curve[adam]"),
        ("test_doctor_on_gpu", "test_not_named_anywhere"),
        ("test_execution_on_gpu", "test_compiled_steps_on_the_gpu[lasagne-mlp]"),
    ]

    places = [gpu_plan.place(*each) for each in wanted]
    assert places == sorted(set(places))


def test_what_comes_last_does_so_though_its_file_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_plan, "FIRST", (("test_one", ""),))
    monkeypatch.setattr(gpu_plan, "LAST", (("test_one", "test_slow"),))

    assert gpu_plan.place("test_one", "test_slow[2]") > gpu_plan.place("test_other", "test_it")
    assert gpu_plan.place("test_one", "test_fast") < gpu_plan.place("test_other", "test_it")


def test_nothing_begins_when_the_time_is_nearly_over() -> None:
    assert gpu_plan.too_late(gpu_plan.LAST_START_S - 1) is None
    told = gpu_plan.too_late(gpu_plan.LAST_START_S + 1)
    assert told is not None and "of 360 s" in told


def test_a_figure_of_the_table_keeps_its_digits() -> None:
    lines = gpu_plan.table([("a rate", 8411234.5, "samples/s"), ("an error", 3e-7, ""), ("none", 0.0, "x")])

    assert [line.split()[-2:] for line in lines] == [
        ["8,411,234.500", "samples/s"],
        ["error", "3e-07"],
        ["0.000", "x"],
    ]


def test_a_load_does_what_it_is_told_and_counts_it() -> None:
    with gpu_load.Load("cpu", copy_bytes=1 << 16) as load:
        assert load.uuid == ""
        done = {}
        for stage in gpu_load.STAGES:
            load.begin(stage)
            done[stage] = load.end()

    for stage in (gpu_load.TO_DEVICE, gpu_load.TO_HOST):
        assert done[stage].copied_bytes % (gpu_load.COPIES << 16) == 0
    assert done[gpu_load.IDLE].copied_bytes == done[gpu_load.PRODUCTS].copied_bytes == 0
    assert all(stage.seconds > 0 for stage in done.values())
    assert gpu_load.Stage(2.0, 100).bytes_per_s == 50.0


@pytest.mark.parametrize(
    ("seen", "counted"),
    [
        ([], []),
        ([0.1, 0.1, 0.5, 0.5], []),
        ([0.1, 0.1, 0.5, 0.5, 0.9, 0.9, 0.91], [0.9, 0.91]),
        ([None, None, 0.4, 0.9, None, 0.8], [0.9, 0.8]),
    ],
)
def test_what_was_known_before_a_load_does_not_count(
    seen: Sequence[float | None], counted: list[float]
) -> None:
    assert gpu_load.settled(seen) == counted
