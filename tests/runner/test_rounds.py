"""The diagnosis acted upon unattended, on a session whose rates are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import gputrain_presets
from gputrain_runner.rounds import Diagnosing, Rounds, Trial
from gputrain_runner.settings import Settings, Value, initial
from gputrain_runner.steering import Steering
from gputrain_runner.timeline import Remedy, Sample, Verdict

START = initial(gputrain_presets.load("lasagne-mlp"), "cpu")
RateOf = Callable[[Settings, int], float]


class KnownSession:
    """Stands in for a steered session: the rate under settings by formula, verdicts by formula too."""

    def __init__(self, rate: RateOf, remedies: Callable[[Settings], list[Remedy]]) -> None:
        self.settings = START
        self.session = self
        self.header = self
        self.probe = {"cpu": None}
        self._rate = rate
        self._remedies = remedies
        self.rounds: Diagnosing | None = None
        self.measured = 0
        self.refuses: set[str] = set()

    def wait_until_training(self) -> None: ...

    def let_run(self, seconds: float) -> None:
        """A moment later there is a verdict."""
        assert self.rounds is not None
        remedies = self._remedies(self.settings)
        verdict = Verdict(
            t=1.0,
            bottleneck="launch-bound" if remedies else "compute-bound",
            sentence="Starting operations takes longest." if remedies else "It computes.",
            evidence=[],
            remedies=remedies,
            limit_ratio=1.5,
        )
        self.rounds.take(0, [verdict])

    def turn(self, wanted: Mapping[str, Value]) -> str | None:
        for name, value in wanted.items():
            if name in self.refuses:
                return f"{name}: out of memory"
            self.settings = self.settings.with_value(name, value)
        return None

    def measure(self, samples: int = 8) -> list[Sample]:
        self.measured += 1
        rate = self._rate(self.settings, self.measured)
        return [
            Sample(t=1.0, step=1, epoch=0, settings=self.settings, steady=True, samples_per_s=rate)
        ] * samples


def remedy(setting: str, to: Value, ratio: float | None) -> Remedy:
    return Remedy(setting=setting, to=to, predicted_ratio=ratio, why="it helps")


def rounds(
    rate: RateOf,
    remedies: Callable[[Settings], list[Remedy]],
    allowed: tuple[str, ...] = (),
    refuses: set[str] = frozenset(),  # type: ignore[assignment]
    **more: Any,
) -> tuple[Rounds, KnownSession]:
    session = KnownSession(rate, remedies)
    session.refuses = set(refuses)
    session.rounds = Diagnosing(allowed, **more)
    return session.rounds.run(cast(Steering, session)), session


def offer(*options: tuple[str, Value, float]) -> Callable[[Settings], list[Remedy]]:
    """These remedies, but for what is set already."""

    def remedies(now: Settings) -> list[Remedy]:
        return [remedy(*each) for each in options if now.value(each[0]) != each[1]]

    return remedies


def test_what_helps_is_kept_and_what_does_not_is_taken_back() -> None:
    def rate(now: Settings, _count: int) -> float:
        faster = 2.0 if now.threads == 1 else 1.0
        slower = 0.8 if now.execution == "compiled" else 1.0
        return 1000.0 * faster * slower

    done, session = rounds(rate, offer(("execution", "compiled", 1.5), ("threads", 1, 1.2)))
    assert [(trial.setting, trial.outcome) for trial in done.trials] == [
        ("execution", "no gain"),
        ("threads", "kept"),
        ("execution", "no gain"),
    ]
    assert session.settings.threads == 1 and session.settings.execution == "eager"
    assert done.ratio == 2.0 and done.first.samples_per_s == 1000.0
    kept = done.trials[1]
    assert kept.ratio == 2.0 and kept.drift == 1.0 and kept.predicted_ratio == 1.2
    assert done.settings_last == session.settings and done.limits_now


def test_a_drift_is_no_gain() -> None:
    """The machine gets faster all the time; the remedy does nothing."""
    done, session = rounds(lambda _now, count: 1000.0 * 1.1**count, offer(("threads", 1, 1.3)))
    assert [trial.outcome for trial in done.trials] == ["no gain"]
    assert session.settings == START
    assert done.trials[0].drift is not None and done.trials[0].drift > 1.2


def test_what_changes_the_training_is_left_alone_unless_allowed() -> None:
    remedies = offer(("batch_size", 8192, 4.0), ("precision", "bf16", 2.0), ("device", "cuda:0", 9.0))
    done, _ = rounds(lambda _now, _count: 1000.0, remedies)
    assert done.trials == []
    done, _ = rounds(lambda now, _count: float(now.batch_size), remedies, allowed=("batch_size",))
    assert [(trial.setting, trial.to, trial.outcome) for trial in done.trials] == [
        ("batch_size", 8192, "kept")
    ]


def test_more_models_at_once_come_last() -> None:
    def rate(now: Settings, _count: int) -> float:
        return 100.0 * now.models_at_once * (2.0 if now.threads == 1 else 1.0)

    done, _ = rounds(rate, offer(("models_at_once", 32, 10.0), ("threads", 1, 1.5)))
    assert [trial.setting for trial in done.trials] == ["threads", "models_at_once"]


def test_it_ends_when_nothing_predicts_enough_and_when_time_is_up() -> None:
    done, session = rounds(lambda _now, _count: 1.0, offer(("threads", 1, 1.02)))
    assert done.trials == [] and session.measured == 1
    times = iter(range(1000))
    endless = offer(*(("workers", number, 1.5) for number in range(3, 60)))
    done, _ = rounds(lambda _n, _c: 1.0, endless, seconds=40.0, clock=lambda: float(next(times)))
    assert 0 < len(done.trials) < 20


def test_a_remedy_that_is_refused_is_told_and_not_tried_again() -> None:
    told: list[Trial] = []
    done, session = rounds(
        lambda _n, _c: 1.0, offer(("threads", 1, 1.5)), refuses={"threads"}, told=told.append
    )
    assert [(trial.outcome, trial.error) for trial in done.trials] == [("refused", "threads: out of memory")]
    assert told == done.trials and session.settings == START
