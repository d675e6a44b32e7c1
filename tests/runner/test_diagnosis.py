"""What is planted is named, what is not known is passed over, what is told has sound figures."""

from __future__ import annotations

import re

import msgspec
import pytest
from msgspec import structs

from diagnosis_cases import BESIDE, CASES
from diagnosis_cpu_cases import on_cpu, tiny_batch_cpu
from diagnosis_gpu_cases import busy_gpu, copying_gpu, on_gpu, waiting_gpu
from diagnosis_parts import CPU_CEILINGS, figure, profile, times, work
from gputrain_runner.diagnosis import Inputs, diagnose, findings_of, judge, saved_ms, verdict
from gputrain_runner.diagnosis.ideas import IDEAS
from gputrain_runner.diagnosis.rules import RULES, names
from gputrain_runner.timeline import Finding

HEALTHY = {names.COMPUTE, names.BANDWIDTH}


def found(inputs: Inputs) -> list[str]:
    return [finding.bottleneck for finding in diagnose(inputs)]


def finding(inputs: Inputs, name: str) -> Finding:
    return next(one for one in diagnose(inputs) if one.bottleneck == name)


# ------------------------------------------------------------------------ what is named


@pytest.mark.parametrize("case", CASES)
def test_what_is_planted_is_named_first(case: str) -> None:
    inputs, expected = CASES[case]
    assert found(inputs)[0] == expected
    assert judge(inputs).reason is None


@pytest.mark.parametrize("case", BESIDE)
def test_what_no_figure_can_be_given_for_is_told_all_the_same(case: str) -> None:
    inputs, expected = BESIDE[case]
    assert expected in found(inputs)


def test_nothing_is_wrong_with_what_is_as_it_should_be() -> None:
    for inputs in (on_cpu(), busy_gpu()):
        wrong = [one for one in diagnose(inputs) if one.bottleneck not in HEALTHY]
        assert all(saved_ms(one, inputs.step_ms) < 0.03 * inputs.step_ms for one in wrong)
        assert found(inputs)[0] == names.COMPUTE


def test_every_bottleneck_that_can_be_told_is_planted_somewhere() -> None:
    planted = {expected for _, expected in (*CASES.values(), *BESIDE.values())}
    assert planted == {rule.name for rule in RULES}


def test_every_bottleneck_has_a_title_and_an_idea() -> None:
    assert set(IDEAS) == {rule.name for rule in RULES} | {names.CANNOT_SAY}
    assert all(len(idea.paragraph) > 100 for idea in IDEAS.values())


def test_spans_that_fill_the_step_do_not_hide_that_the_device_waits() -> None:
    """The device's own marks are 97 % of the step apart; its kernels run for 22 %."""
    recorded = msgspec.json.encode(on_gpu())
    inputs = msgspec.json.decode(recorded, type=Inputs)
    assert inputs.step is not None and inputs.profile is not None
    assert sum(inputs.step.device_ms.values()) > 0.95 * inputs.step_ms
    assert inputs.profile.work_ms < 0.25 * inputs.step_ms
    first = diagnose(inputs)[0]
    assert first.bottleneck == names.LAUNCH
    assert "the GPU idles 77 % of the time, though its driver reports 61 % utilisation" in first.sentence
    assert first.remedies[0].setting == "execution"
    assert first.remedies[0].to == "graph"
    assert 2.5 < (first.remedies[0].predicted_ratio or 0) < 4.6


# --------------------------------------------------------------------- what is not known


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    "missing", ["profile", "ceilings", "workload", "preset", "gpu", "host", "memory", "cores", "step"]
)
def test_a_rule_whose_inputs_are_missing_abstains(case: str, missing: str) -> None:
    inputs, _ = CASES[case]
    told = diagnose(structs.replace(inputs, **{missing: None}))
    assert {one.bottleneck for one in told} <= {rule.name for rule in RULES}
    if missing == "step":
        assert told == []


def test_without_a_profile_nothing_is_said_of_launches_or_work() -> None:
    for inputs in (on_gpu(), tiny_batch_cpu(), busy_gpu()):
        blind = structs.replace(inputs, profile=None)
        assert not {names.LAUNCH, names.COMPUTE, names.BANDWIDTH, names.TENSOR_CORES} & set(found(blind))
        assert judge(blind).reason is not None or found(blind)


def test_without_the_probe_a_launch_is_assumed_to_cost_what_is_usual_and_that_is_said() -> None:
    inputs = structs.replace(on_gpu(), ceilings=None)
    evidence = finding(inputs, names.LAUNCH).evidence
    assert any("(assumed" in text for text in evidence)


def test_input_is_told_without_a_profile_too() -> None:
    assert found(structs.replace(waiting_gpu(), profile=None))[0] == names.INPUT


# ------------------------------------------------------------------------------ figures


@pytest.mark.parametrize("case", [*CASES, *BESIDE])
def test_figures_are_sound(case: str) -> None:
    inputs, _ = {**CASES, **BESIDE}[case]
    for one in diagnose(inputs):
        assert one.sentence.endswith(".")
        assert one.evidence
        if one.slice_ms is not None:
            assert 0 <= one.slice_ms <= inputs.step_ms * 1.001
            assert one.limit_ratio is not None and one.limit_ratio >= 1
        for each in one.remedies:
            if each.predicted_ratio is not None:
                assert each.predicted_low is not None and each.predicted_high is not None
                assert each.predicted_low <= each.predicted_ratio <= each.predicted_high


@pytest.mark.parametrize("case", CASES)
def test_slices_of_problems_do_not_overlap(case: str) -> None:
    inputs, _ = CASES[case]
    waits = (names.INPUT, names.TRANSFER, names.SYNC, names.LAUNCH, names.RECURRENCE, names.LINK)
    slices = [one.slice_ms or 0 for one in diagnose(inputs) if one.bottleneck in waits]
    assert sum(slices) <= inputs.step_ms * 1.001


@pytest.mark.parametrize("case", CASES)
def test_findings_are_ranked_by_what_they_save(case: str) -> None:
    inputs, _ = CASES[case]
    told = [saved_ms(one, inputs.step_ms) for one in diagnose(inputs)]
    limiting = [saved for saved in told if saved >= 0.03 * inputs.step_ms]
    assert limiting == sorted(limiting, reverse=True)
    assert told[: len(limiting)] == limiting


def test_the_larger_of_two_bottlenecks_comes_first() -> None:
    host = {"data": 4.0, "h2d": 0.1, "forward": 1.5, "backward": 2.6, "optimizer": 0.3, "other": 0.02}
    kinds = work(matmul=(0.4, 130), elementwise=(0.3, 180))
    base = waiting_gpu()
    both = structs.replace(base, step=times(host, dispatch_ms=4.4), profile=profile(8.52, 0.8, kinds))
    assert found(both)[:2] == [names.INPUT, names.LAUNCH]
    host = {**host, "data": 1.0}
    both = structs.replace(
        base,
        settings=base.settings.with_value("data_path", "host"),
        step=times(host, dispatch_ms=4.4),
        profile=profile(5.52, 0.8, kinds),
    )
    assert found(both)[:2] == [names.LAUNCH, names.INPUT]


# ------------------------------------------------------------------------ cannot say yet


def test_it_is_said_why_nothing_can_be_said_yet() -> None:
    base = on_gpu()
    assert base.step is not None

    def reason(**changed: object) -> str | None:
        return judge(structs.replace(base, **changed)).reason

    assert reason() is None
    assert reason(settling="the steps are still settling") == "the steps are still settling"
    assert "7 steps so far" in (reason(step=structs.replace(base.step, steps=7)) or "")
    assert "varies by 90 %" in (reason(step=structs.replace(base.step, spread=0.9)) or "")
    early = structs.replace(base.step, seconds=2.0)
    assert "being measured" in (reason(step=early, profile=None) or "")
    told = verdict(judge(structs.replace(base, settling="the steps are still settling")), 3.0)
    assert told.bottleneck == names.CANNOT_SAY
    assert told.sentence == "Cannot say yet: the steps are still settling."
    assert [one.bottleneck for one in findings_of(told)] == found(base)


def test_noise_hides_only_what_is_smaller_than_it() -> None:
    base = on_gpu()
    assert base.step is not None
    assert judge(structs.replace(base, step=structs.replace(base.step, spread=0.2))).reason is None
    healthy = busy_gpu()
    assert healthy.step is not None
    noisy = structs.replace(healthy, step=structs.replace(healthy.step, spread=0.2))
    assert judge(noisy).reason is not None


def test_the_first_finding_is_the_verdict_and_the_others_stand_beside_it() -> None:
    told = verdict(judge(copying_gpu()), 9.0)
    assert told.bottleneck == names.TRANSFER
    assert told.step_ms == copying_gpu().step_ms
    assert [one.bottleneck for one in findings_of(told)] == found(copying_gpu())


QUOTED = (
    r"one launch costs (about )?[\d.]+ µs",
    r"one operation on a tiny tensor costs (about )?[\d.]+ µs",
    r", (about )?[\d.]+ % of what plain matrix products reach here",
    r"from pinned memory this link does (about )?[\d.]+",
    r"though its matrix products are (about )?×",
    r"kernels takes at least (about )?[\d.]+",
    r"on the other (about )?[\d.]+",
    r"GFLOP explain (about )?[\d.]+",
    r"in products, (about )?[\d.]+",
    r"weights, (about )?[\d.]+ \S+ would be usual",
    r"moments takes (about )?[\d.]+",
    r"parameters takes at least (about )?[\d.]+",
)
"""What the diagnosis quotes of a probe."""


def told_with(noisy: bool, inputs: Inputs) -> str:
    """All sentences and evidence where the probes were noisy, or were not."""
    everything = {
        device: structs.replace(ceilings, noisy=noisy) for device, ceilings in inputs.all_ceilings.items()
    }
    own = None if inputs.ceilings is None else structs.replace(inputs.ceilings, noisy=noisy)
    findings = diagnose(structs.replace(inputs, ceilings=own, all_ceilings=everything))
    return "\n".join(line for one in findings for line in (one.sentence, *one.evidence))


@pytest.mark.parametrize("quoted", QUOTED)
def test_figures_of_a_noisy_probe_are_told_as_about(quoted: str) -> None:
    every = [inputs for inputs, _ in (*CASES.values(), *BESIDE.values()) if inputs.ceilings is not None]
    for noisy, hedge in ((True, "about "), (False, "")):
        said = [found for inputs in every for found in re.findall(quoted, told_with(noisy, inputs))]
        assert said and set(said) == {hedge}


def test_a_noisy_probe_does_not_make_launches_dearer() -> None:
    quiet = structs.replace(CPU_CEILINGS, launch_us=figure(1.8))
    slow = structs.replace(CPU_CEILINGS, noisy=True, launch_us=structs.replace(figure(9.0), q25=1.8))
    slices = [
        finding(structs.replace(tiny_batch_cpu(), ceilings=ceilings), names.LAUNCH).slice_ms
        for ceilings in (quiet, slow)
    ]
    assert slices[0] == pytest.approx(slices[1], rel=0.03)
