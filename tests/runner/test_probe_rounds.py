"""How the probe goes round its quantities, on a clock that the test moves."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from gputrain_runner.ceilings import Figure
from gputrain_runner.worker.probe.rounds import Key, figure, go_round


class Machine:
    """Quantities that take their time on a clock, and drift: each repeat shows one less than the last."""

    def __init__(self, **lasting_s: float) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self._values = itertools.count(100, -1)
        self.quantities: dict[Key, Callable[[], float]] = {
            (name, ""): self._repeat(name, seconds) for name, seconds in lasting_s.items()
        }

    def _repeat(self, name: str, seconds: float) -> Callable[[], float]:
        def repeat() -> float:
            self.now += seconds
            self.order.append(name)
            return float(next(self._values))

        return repeat

    def measure(self, until: float, stopped: Callable[[], bool] = lambda: False) -> dict[Key, Figure] | None:
        return go_round(self.quantities, until, stopped, clock=lambda: self.now)


def test_it_goes_to_and_fro_until_the_time_is_up() -> None:
    machine = Machine(a=0.25, b=0.5, c=0.25)
    found = machine.measure(until=4.5)
    assert machine.order == [*"abc", *"cba", *"abc", *"cba"]
    assert machine.now == 4.0  # Another round would have been too long.
    assert found is not None
    # The drift falls on all of them alike: those at the ends differ by nothing.
    assert found["a", ""].median == found["c", ""].median == found["b", ""].median
    assert all(each.repeats == 4 for each in found.values())


def test_three_rounds_are_the_least() -> None:
    machine = Machine(a=1.0, b=1.0)
    found = machine.measure(until=0.0)
    assert machine.now == 6.0
    assert found is not None and found["a", ""].repeats == 3


def test_it_can_be_stopped_between_two_repeats() -> None:
    machine = Machine(a=1.0, b=1.0)
    assert machine.measure(until=100.0, stopped=lambda: machine.now >= 3.0) is None
    assert machine.now == 3.0


def test_a_figure_is_the_median_with_its_quartiles() -> None:
    found = figure([5.0, 1.0, 4.0, 2.0, 3.0])
    assert (found.q25, found.median, found.q75, found.repeats) == (2.0, 3.0, 4.0, 5)
    assert figure([1.0, 2.0]).median == pytest.approx(1.5)
