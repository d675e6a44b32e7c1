"""Which verdict, burst and effect of a timeline a test waits for, and that a real session tells them."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from diagnosed import (
    Diagnosed,
    effect_of,
    missed,
    named,
    newest_burst,
    of_burst,
    remedy_to,
    span_share,
    standing,
)
from gputrain_runner.diagnosis.rules import names
from gputrain_runner.settings import Settings, initial
from gputrain_runner.timeline import (
    Change,
    Effect,
    Entry,
    Finding,
    KindOfWork,
    Phase,
    Profile,
    Rate,
    Remedy,
    Sample,
    StepMs,
    Verdict,
)
from training_presets import small

SETTINGS = initial(small("lasagne-mlp"), "cuda:0")
BURST = Profile(
    steps=5, step_ms=0.5, work_ms=0.1, launches=33, work={"matmul": KindOfWork(ms=0.05, count=11)}
)


def sample(t: float, profile: Profile | None = None, settings: Settings = SETTINGS) -> Sample:
    return Sample(t=t, step=1, epoch=0, settings=settings, steady=True, profile=profile)


def verdict(t: float, bottleneck: str = names.LAUNCH) -> Verdict:
    return Verdict(t=t, bottleneck=bottleneck, evidence=[], remedies=[])


def change(t: float, ok: bool = True) -> Change:
    return Change(t=t, step=1, setting="execution", from_="eager", to="graph", ok=ok)


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [sample(1.0, BURST)],
        [verdict(1.0), sample(3.0)],
        [sample(1.0, BURST), verdict(1.0, names.CANNOT_SAY), sample(9.0)],
        # It has only just been told, or was told before the burst, of which it knew nothing.
        [sample(1.0, BURST), verdict(1.0), sample(1.5)],
        [verdict(0.5), sample(1.0, BURST), sample(4.0)],
        # It is about other settings, and so is the burst.
        [sample(1.0, BURST), verdict(1.0), change(2.0), sample(9.0)],
        [sample(1.0, BURST), change(2.0), verdict(3.0), sample(9.0)],
    ],
)
def test_no_verdict_stands(entries: list[Entry]) -> None:
    assert standing(entries) is None


@pytest.mark.parametrize(
    "entries",
    [
        [sample(1.0, BURST), verdict(1.0), sample(2.0)],
        [verdict(0.5), sample(1.0, BURST), sample(7.5)],
        [change(0.5), sample(1.0, BURST), verdict(1.0), sample(2.0)],
        [sample(1.0, BURST), verdict(1.0), change(1.5, ok=False), sample(2.0)],
        [sample(1.0, BURST), verdict(1.0, names.INPUT), verdict(3.0), sample(4.0)],
    ],
)
def test_a_verdict_stands(entries: list[Entry]) -> None:
    found = standing(entries)
    assert found is not None and found.bottleneck == names.LAUNCH


def test_the_newest_burst_is_of_the_settings_in_force() -> None:
    newer = structs.replace(BURST, launches=2)
    entries: list[Entry] = [sample(1.0, BURST), sample(2.0, newer), sample(3.0)]

    found = newest_burst(entries)

    assert found is not None and of_burst(found) is newer
    assert newest_burst([*entries, change(4.0), sample(5.0)]) is None


def test_what_is_named_and_offered_is_of_all_findings() -> None:
    graph = Remedy(setting="execution", to="graph", predicted_ratio=3.0, why="one launch")
    finding = Finding(bottleneck=names.OPTIMIZER, sentence="", evidence=[], remedies=[graph])
    told = structs.replace(verdict(1.0), others=[finding])

    assert named(told) == [names.LAUNCH, names.OPTIMIZER]
    assert remedy_to(told, "execution", "graph") is graph
    assert remedy_to(told, "execution", "compiled") is None


def effect(ratio: float, predicted: float | None) -> Effect:
    rate = Rate(samples_per_s=1.0, q25=1.0, q75=1.0, samples=8)
    return Effect(
        t=1.0,
        change=0,
        before=rate,
        after=rate,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
        predicted_ratio=predicted,
        learnt="it was overlapped",
    )


def test_an_effect_is_that_of_its_own_change() -> None:
    of_another = structs.replace(effect(2.0, None), change=0)
    wanted = structs.replace(effect(3.0, None), change=2)
    entries: list[Entry] = [change(1.0), sample(1.0), change(2.0), of_another, sample(3.0)]

    assert effect_of(entries, "execution", "graph", 1) is None
    assert effect_of([*entries, wanted], "execution", "graph", 1) is wanted
    assert effect_of([*entries, wanted], "execution", "graph", 0) is of_another
    assert effect_of([*entries, wanted], "execution", "eager", 0) is None


def test_a_prediction_is_missed_beyond_the_tolerance() -> None:
    assert missed(effect(3.5, 3.0), 0.2) is None
    assert missed(effect(2.5, 3.0), 0.2) is None
    assert missed(effect(4.5, 3.0), 0.2) == "predicted ×3.00, measured ×4.50: +50% (it was overlapped)"
    assert missed(effect(1.5, None), 0.2) == "nothing was predicted; measured ×1.50"


def test_spans_are_a_share_of_the_step() -> None:
    phases = {"h2d": Phase(host_ms=0.1, device_ms=0.1), "forward": Phase(host_ms=0.1, device_ms=0.4)}
    timed = structs.replace(sample(1.0), phases=phases, step_ms=StepMs(p50=0.5, p95=0.5, mean=0.5))
    assert span_share(timed) == pytest.approx(0.8)


def test_a_real_session_tells_its_verdict_and_its_effects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Diagnosed(small("keras-mnist-mlp", 2000, 0), "cpu", threads=1, batch_size=16) as training:
        burst = of_burst(training.profiled())
        assert burst.launches > 0
        came = training.effect("batch_size", 64)
        assert came.ratio > 0 and training.settings.batch_size == 64
        assert training.samples_per_s() > 0
