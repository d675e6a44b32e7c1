"""The lines about changes of `--at` that failed or were never reached."""

from __future__ import annotations

from gputrain_runner.protocol import ScheduledChange
from gputrain_runner.settings import Value
from gputrain_runner.timeline import Change
from gputrain_tui.commands.scheduled import failed, unreached


def at(step: int, setting: str, to: Value) -> ScheduledChange:
    return ScheduledChange(step=step, setting=setting, to=to)


def change(step: int, setting: str, to: Value, error: str | None = None) -> Change:
    return Change(t=1.0, step=step, setting=setting, from_=None, to=to, ok=error is None, error=error)


def test_all_went_well() -> None:
    asked, made = [at(3, "batch_size", 8)], [change(3, "batch_size", 8)]
    assert failed(made, asked) is unreached(made, asked, 10) is None
    assert failed([], []) is unreached([], [], 0) is None


def test_one_that_failed_is_named_as_on_the_command_line() -> None:
    asked = [at(3, "batch_size", 8), at(31, "batch_size", 4096), at(40, "batch_size", 4096)]
    # Made two steps later, after the epoch's end.
    tried = [change(3, "batch_size", 8), change(33, "batch_size", 4096, "out of memory:\n2 GiB are missing")]
    assert failed(tried, asked) == (
        "--at 31:batch_size=4096 could not be made: out of memory: 2 GiB are missing; training went on "
        "without it"
    )


def test_of_several_that_failed_all_are_named_on_one_line() -> None:
    asked = [at(3, "precision", "fp16"), at(5, "execution", "graph")]
    tried = [change(3, "precision", "fp16", "not here"), change(5, "execution", "graph", "nor that")]
    assert failed(tried, asked) == (
        "--at 3:precision=fp16 could not be made: not here (nor could --at 5:execution=graph); training went "
        "on without it"
    )


def test_the_last_step_is_reached_and_the_one_after_it_is_not() -> None:
    asked = [at(9, "batch_size", 8), at(10, "batch_size", 16)]
    assert unreached([change(9, "batch_size", 8)], asked, 10) == (
        "--at 10:batch_size=16 was never reached: the run ended after 10 steps"
    )
    # Tried before a step that then never ended.
    assert unreached([change(10, "batch_size", 16, "out of memory")], asked[1:], 10) is None
    assert unreached([], [at(4, "device", "cpu")], 1) == (
        "--at 4:device=cpu was never reached: the run ended after 1 step"
    )
