"""What is planted is named, what is not known is passed over, what is told has sound figures."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import structs

from diagnosis_cases import (
    BESIDE,
    CASES,
    CPU_CEILINGS,
    GPU_CEILINGS,
    busy_gpu,
    copying_gpu,
    figure,
    on_cpu,
    on_gpu,
    profile,
    slow_loader_cpu,
    times,
    tiny_batch_cpu,
    waiting_gpu,
    work,
)
from gputrain_runner.diagnosis import Inputs, diagnose, findings_of, judge, saved_ms, verdict
from gputrain_runner.diagnosis.ideas import IDEAS
from gputrain_runner.diagnosis.inputs import Measured
from gputrain_runner.diagnosis.rules import RULES, names
from gputrain_runner.settings import Value
from gputrain_runner.timeline import Finding, Remedy

HEALTHY = {names.COMPUTE, names.BANDWIDTH}


def found(inputs: Inputs) -> list[str]:
    return [finding.bottleneck for finding in diagnose(inputs)]


def finding(inputs: Inputs, name: str) -> Finding:
    return next(one for one in diagnose(inputs) if one.bottleneck == name)


def remedy(inputs: Inputs, name: str, setting: str) -> Remedy | None:
    return next((one for one in finding(inputs, name).remedies if one.setting == setting), None)


def offered(inputs: Inputs) -> list[tuple[str | None, Value]]:
    return [(one.setting, one.to) for each in diagnose(inputs) for one in each.remedies]


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
    both = structs.replace(base, step=times(host, dispatch_ms=4.4), profile=profile(5.52, 0.8, kinds))
    assert found(both)[:2] == [names.LAUNCH, names.INPUT]


def test_a_larger_batch_is_predicted_from_the_sizes_tried_where_there_are_others() -> None:
    inputs = tiny_batch_cpu()
    # 0.3 ms and 1 us for each sample: another line than the one that the profile alone suggests.
    tried = [
        Measured(
            settings=structs.replace(inputs.settings, batch_size=size),
            step_ms=0.3 + 0.001 * size,
            samples_per_s=size / (0.3 + 0.001 * size) * 1e3,
        )
        for size in (64, 256)
    ]
    line = structs.replace(inputs, measured=tried)
    step = times({"forward": 0.332}, flops_per_s=8e9, samples_per_s=32 / 0.332e-3)
    line = structs.replace(line, step=step, profile=profile(0.332, 0.15, work(matmul=(0.15, 84))))
    told = remedy(line, names.LAUNCH, "batch_size")
    assert told is not None and isinstance(told.to, int)
    expected = (told.to / (0.3 + 0.001 * told.to)) / (32 / 0.332)
    assert told.predicted_ratio == pytest.approx(expected, rel=0.02)
    assert not told.keeps_meaning


# ----------------------------------------------------------------------------- remedies


def test_only_what_works_on_the_device_is_offered() -> None:
    for inputs in (tiny_batch_cpu(), slow_loader_cpu(), on_cpu()):
        settings = [setting for setting, _ in offered(inputs)]
        values = [to for _, to in offered(inputs)]
        assert "graph" not in values
        assert "pinned" not in values
        assert "tf32" not in values
        assert settings
    old = structs.replace(on_gpu().devices[0], compute_capability="6.1")
    pascal = structs.replace(on_gpu(), devices=[old])
    assert not {("precision", "tf32"), ("precision", "bf16")} & set(offered(pascal))


def test_what_is_so_already_is_not_offered() -> None:
    base = on_gpu()
    graph = structs.replace(base, settings=structs.replace(base.settings, execution="graph"))
    assert ("execution", "graph") not in offered(graph)


def test_what_failed_in_this_session_is_not_offered_again() -> None:
    failed = structs.replace(on_gpu(), failed=[("execution", "graph")])
    assert ("execution", "graph") in offered(on_gpu())
    assert ("execution", "graph") not in offered(failed)


def test_what_was_measured_before_takes_the_prediction_s_place() -> None:
    base = on_gpu()
    assert base.step is not None and base.step.samples_per_s is not None
    graph = structs.replace(base.settings, execution="graph")

    def having_seen(ratio: float) -> Inputs:
        assert base.step is not None and base.step.samples_per_s is not None
        seen = Measured(settings=graph, step_ms=0.5, samples_per_s=ratio * base.step.samples_per_s)
        return structs.replace(base, measured=[seen])

    told = remedy(having_seen(2.0), names.LAUNCH, "execution")
    assert told is not None and told.predicted_ratio == pytest.approx(2.0)
    assert "measured earlier" in told.why
    assert ("execution", "graph") not in offered(having_seen(0.9))


def test_a_batch_that_would_not_fit_in_memory_is_not_offered() -> None:
    base = on_gpu()
    assert base.memory is not None
    full = structs.replace(base, memory=structs.replace(base.memory, peak_allocated_bytes=100 * 10**9))
    assert "batch_size" in [setting for setting, _ in offered(base)]
    assert "batch_size" not in [setting for setting, _ in offered(full)]


def test_what_changes_the_training_comes_after_what_does_not() -> None:
    remedies = finding(on_gpu(), names.LAUNCH).remedies
    meaning = [one.keeps_meaning for one in remedies if one.setting is not None]
    assert meaning == sorted(meaning, reverse=True)
    assert {one.setting: one.keeps_meaning for one in remedies}["models_at_once"]


def test_data_read_file_by_file_are_not_offered_to_lie_in_memory() -> None:
    base = slow_loader_cpu()
    assert base.workload is not None
    files = structs.replace(base, workload=structs.replace(base.workload, in_memory=False))
    paths = {to for setting, to in offered(files) if setting == "data_path"}
    assert not paths & {"host", "resident"}


def test_the_crossing_with_the_cpu_is_told_from_lines_through_what_was_tried() -> None:
    inputs, _ = CASES["slower than the CPU"]
    evidence = finding(inputs, names.SLOWER_THAN_CPU).evidence
    # CPU: 0.390 ms + 1.865 us a sample; GPU: 0.538 ms + 0.012 us.
    assert any("overtakes at a batch of about 79" in text for text in evidence)


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


def test_a_noisy_probe_does_not_make_launches_dearer() -> None:
    quiet = structs.replace(CPU_CEILINGS, launch_us=figure(1.8))
    slow = structs.replace(CPU_CEILINGS, noisy=True, launch_us=structs.replace(figure(9.0), q25=1.8))
    slices = [
        finding(structs.replace(tiny_batch_cpu(), ceilings=ceilings), names.LAUNCH).slice_ms
        for ceilings in (quiet, slow)
    ]
    assert slices[0] == pytest.approx(slices[1], rel=0.03)
    assert GPU_CEILINGS.launch_us is not None
