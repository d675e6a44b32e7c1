"""The diagnosis of a session as it goes: when a verdict is told, and what came of its remedies."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from msgspec import structs, to_builtins

import gputrain_presets
from diagnosis_parts import CPU, CPU_CEILINGS, profile, work
from gputrain_runner.book import Book
from gputrain_runner.diagnosis import watch as watching
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.settings import Value, initial
from gputrain_runner.timeline import (
    Change,
    Effect,
    Entry,
    Header,
    Host,
    HostLoad,
    Message,
    Phase,
    Profile,
    Sample,
    SessionInfo,
    StepMs,
    Verdict,
)

PRESET = gputrain_presets.load("lasagne-mlp")
START = structs.replace(initial(PRESET, "cpu"), batch_size=32, threads=2)

HEADER = Header(
    session=SessionInfo(
        id="1", started_at="2026-11-30T10:00:00Z", preset=to_builtins(PRESET), settings=START, command=[]
    ),
    host=Host(
        os="Linux", cpu="a CPU", cores=2, memory_bytes=1 << 34, python="3.11", over_ssh=False, torch="2.13.0"
    ),
    devices=[CPU],
    probe={"cpu": CPU_CEILINGS},
)

DISPATCHING = {"data": 0.01, "forward": 0.14, "backward": 0.2, "optimizer": 0.06, "other": 0.01}
WAITING = {"data": 2.0, "forward": 0.14, "backward": 0.2, "optimizer": 0.06, "other": 0.01}
COMPUTING = {"data": 0.1, "forward": 30.0, "backward": 60.0, "optimizer": 2.0, "other": 0.01}
TINY = profile(0.42, 0.17, work(matmul=(0.08, 11), elementwise=(0.05, 17), optimizer=(0.04, 40)))
LARGE = profile(92.11, 90.0, work(matmul=(85.0, 11), elementwise=(3.0, 17), optimizer=(2.0, 40)))


class Run:
    """A training that the test makes up; keeps what is told of it."""

    def __init__(self, book: Book) -> None:
        self.t = 0.0
        self.step = 0
        self.settings = START
        self.book = book

    def go(
        self,
        seconds: float,
        phases: dict[str, float],
        burst: Profile | None = None,
        *,
        steady: bool = True,
        rate: float | None = None,
    ) -> None:
        """Train for so long; the first sample has the burst."""
        step_ms = sum(phases.values())
        for _ in range(round(seconds * 4)):
            self.t += 0.25
            self.step += max(1, round(250 / step_ms))
            work_done = self.settings.batch_size * self.settings.models_at_once
            self.book.add(
                Sample(
                    t=self.t,
                    step=self.step,
                    epoch=0,
                    settings=self.settings,
                    steady=steady,
                    samples_per_s=rate or work_done / step_ms * 1e3,
                    steps_per_s=1e3 / step_ms,
                    step_ms=StepMs(p50=step_ms, p95=1.05 * step_ms, mean=step_ms),
                    phases={name: Phase(host_ms=took) for name, took in phases.items()},
                    profile=burst,
                    host=HostLoad(worker_cpu_utilisation=1.0, others_cpu_utilisation=0.02),
                )
            )
            burst = None

    def change(self, setting: str, to: Value) -> None:
        before = self.settings.value(setting)
        self.settings = self.settings.with_value(setting, to)
        self.book.add(Change(t=self.t, step=self.step, setting=setting, from_=before, to=to, ok=True))

    @property
    def entries(self) -> list[Entry]:
        return list(self.book.read(0)[0])

    @property
    def verdicts(self) -> list[Verdict]:
        return [entry for entry in self.entries if isinstance(entry, Verdict)]

    @property
    def effects(self) -> list[Effect]:
        return [entry for entry in self.entries if isinstance(entry, Effect)]

    @property
    def named(self) -> list[str]:
        return [told.bottleneck for told in self.verdicts]


@pytest.fixture
def run() -> Iterator[Run]:
    yield Run(Book(HEADER, lambda: 0.0))


def test_at_first_it_cannot_say_and_soon_it_can(run: Run) -> None:
    run.go(1, DISPATCHING, steady=False)
    assert run.named == [names.CANNOT_SAY]
    run.go(6, DISPATCHING, TINY)
    assert run.named == [names.CANNOT_SAY, names.LAUNCH]
    assert run.verdicts[-1].t <= 4.0


def test_a_verdict_that_stands_is_not_told_again(run: Run) -> None:
    run.go(60, DISPATCHING, TINY)
    assert run.named.count(names.LAUNCH) == 1


def test_one_odd_window_does_not_replace_the_verdict(run: Run) -> None:
    run.go(20, DISPATCHING, TINY)
    run.go(2, {**DISPATCHING, "data": 0.25})
    run.go(20, DISPATCHING)
    assert set(run.named) == {names.CANNOT_SAY, names.LAUNCH}


def test_what_clearly_costs_more_is_told_soon(run: Run) -> None:
    run.go(20, DISPATCHING, TINY)
    before = run.t
    run.go(20, WAITING)
    first = next(told for told in run.verdicts if told.bottleneck == names.INPUT)
    assert first.t - before <= 12.0
    assert run.verdicts[-1].bottleneck == names.INPUT


def test_verdicts_keep_their_distance(run: Run) -> None:
    for _ in range(10):
        run.go(3, DISPATCHING, TINY)
        run.go(3, WAITING, TINY)
    moments = [told.t for told in run.verdicts[1:]]
    told_after = [later - earlier for earlier, later in pairwise(moments)]
    assert all(apart >= watching.APART_S for apart in told_after)


def test_after_a_change_it_cannot_say_again_until_the_steps_have_settled(run: Run) -> None:
    run.go(10, DISPATCHING, TINY)
    run.change("batch_size", 8192)
    run.go(1, COMPUTING, steady=False)
    assert run.named[-1] == names.CANNOT_SAY
    assert "settling after the last change" in run.verdicts[-1].sentence
    run.go(10, COMPUTING, LARGE)
    assert run.named[-1] == names.COMPUTE


def test_the_effect_of_a_remedy_stands_beside_its_prediction(run: Run) -> None:
    run.go(12, DISPATCHING, TINY)
    first = next(one for one in run.verdicts[-1].remedies if one.setting == "models_at_once")
    assert first.predicted_ratio is not None and isinstance(first.to, int)
    step_ms = sum(DISPATCHING.values()) * first.to / first.predicted_ratio
    after = {name: took / sum(DISPATCHING.values()) * step_ms for name, took in DISPATCHING.items()}
    run.change("models_at_once", first.to)
    run.go(1, after, steady=False)
    run.go(6, after, TINY)
    (effect,) = run.effects
    assert effect.predicted_ratio == first.predicted_ratio
    assert effect.ratio == pytest.approx(first.predicted_ratio, rel=0.02)
    assert effect.learnt is None


def test_where_a_prediction_missed_it_is_told_what_was_learnt(run: Run) -> None:
    run.go(12, DISPATCHING, TINY)
    first = next(one for one in run.verdicts[-1].remedies if one.setting == "models_at_once")
    assert isinstance(first.to, int)
    after = {name: took * first.to for name, took in DISPATCHING.items()}
    run.change("models_at_once", first.to)
    run.go(1, after, steady=False)
    run.go(6, after)
    (effect,) = run.effects
    assert effect.predicted_ratio == first.predicted_ratio
    assert effect.learnt is not None
    assert effect.learnt.startswith("less than predicted: backward took")


def test_a_data_path_that_saves_nothing_is_told_to_have_been_overlapped(run: Run) -> None:
    run.settings = structs.replace(run.settings, data_path="loader", workers=1)
    run.go(12, WAITING, profile(2.41, 0.3, TINY.work))
    assert run.named[-1] == names.INPUT
    paths = [one for one in run.verdicts[-1].remedies if one.setting == "data_path"]
    run.change("data_path", paths[0].to)
    run.go(1, WAITING, steady=False)
    run.go(6, WAITING)
    (effect,) = run.effects
    assert effect.learnt is not None
    assert "overlapped already" in effect.learnt


def test_a_change_that_no_verdict_proposed_has_no_prediction(run: Run) -> None:
    run.go(12, DISPATCHING, TINY)
    run.change("threads", 3)
    run.go(8, DISPATCHING, TINY)
    (effect,) = run.effects
    assert effect.predicted_ratio is None
    assert effect.learnt is None


def test_what_was_measured_is_remembered_over_changes(run: Run) -> None:
    run.go(12, DISPATCHING, TINY)
    run.change("batch_size", 8192)
    run.go(12, COMPUTING, LARGE)
    inputs = run.book._diagnosis._gather.inputs()
    assert inputs is not None
    (other,) = inputs.measured
    assert other.settings == START
    assert other.step_ms == pytest.approx(sum(DISPATCHING.values()))


def test_a_preset_that_is_no_whole_one_costs_its_facts_and_nothing_else() -> None:
    session = structs.replace(HEADER.session, preset={"name": "tiny"})
    run = Run(Book(structs.replace(HEADER, session=session), lambda: 0.0))
    run.go(10, DISPATCHING, TINY)
    assert run.named[-1] == names.LAUNCH


def test_an_error_in_it_costs_the_session_its_diagnosis_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise ZeroDivisionError("of a rule")

    monkeypatch.setattr(watching, "judge", fails)
    run = Run(Book(HEADER, lambda: 0.0))
    run.go(10, DISPATCHING, TINY)
    run.change("batch_size", 64)
    run.go(5, DISPATCHING)
    told = [entry for entry in run.entries if isinstance(entry, Message)]
    assert [message.level for message in told] == ["error"]
    assert "the diagnosis has failed and is off from now on (ZeroDivisionError: of a rule)" in told[0].text
    assert len(run.effects) == 1


def test_a_worker_that_comes_anew_is_judged_anew(run: Run) -> None:
    run.go(10, DISPATCHING, TINY)
    run.book.settle_effects()
    run.go(1, DISPATCHING, steady=False)
    assert run.named[-1] == names.CANNOT_SAY


def test_compiling_again_and_again_is_counted_but_not_what_a_change_causes() -> None:
    run = Run(Book(HEADER, lambda: 0.0))
    compiled = Message(t=0.0, level="info", text="compiled in 6.00 s, which no rate counts")

    def say() -> None:
        run.book.add(structs.replace(compiled, t=run.t))

    run.settings = structs.replace(run.settings, execution="eager")
    run.go(3, COMPUTING, LARGE)
    run.change("execution", "compiled")
    say()
    say()
    run.go(20, COMPUTING, LARGE)
    assert names.RECOMPILING not in run.named
    say()
    run.go(3, COMPUTING)
    say()
    run.go(15, COMPUTING)
    assert run.named[-1] == names.RECOMPILING
